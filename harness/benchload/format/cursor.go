package format

import (
	"encoding/binary"

	"benchbook/benchload/dataset"
)

// Cursor goes through the rows of a piece of Rows. It allocates nothing once the
// tags of a series were asked for; what it gives is valid until the next row. It
// belongs to one goroutine.
type Cursor struct {
	generator dataset.Generator
	tables    []dataset.Table
	piece     []byte
	rest      []byte
	row       []byte
	only      int // the table whose rows are given; -1 for all
	table     int
	tags      map[int64][][]byte // of (series, table), as far as there is room
	scratch   [][]byte           // a text for each tag, where there is none
}

// Cursor makes a cursor; Reset gives it its rows.
func (f *Rows) Cursor() *Cursor {
	return &Cursor{generator: f.generator, tables: f.generator.Tables(), tags: map[int64][][]byte{}, only: -1}
}

// Reset begins with the rows of another piece, of all tables.
func (c *Cursor) Reset(piece []byte) { c.piece, c.rest, c.only = piece, piece, -1 }

// Only begins again with the rows of one table of the piece: for protocols that
// take rows of one table at a time.
func (c *Cursor) Only(table int) { c.rest, c.only = c.piece, table }

// Next goes to the next row; false at the end.
func (c *Cursor) Next() bool {
	for len(c.rest) >= rowHead {
		c.table = int(c.rest[16])
		size := rowHead + rowValue*len(c.tables[c.table].Fields)
		c.row, c.rest = c.rest[:size], c.rest[size:]
		if c.only < 0 || c.only == c.table {
			return true
		}
	}
	return false
}

// Tables are the tables of the dataset.
func (c *Cursor) Tables() []dataset.Table { return c.tables }

// Table is the table of the row.
func (c *Cursor) Table() *dataset.Table { return &c.tables[c.table] }

// TableNumber is its place among the tables of the generator.
func (c *Cursor) TableNumber() int { return c.table }

// Time is nanoseconds since 1970.
func (c *Cursor) Time() int64 { return int64(binary.LittleEndian.Uint64(c.row)) }

// Series is the number of the host, truck or stock.
func (c *Cursor) Series() int64 { return int64(binary.LittleEndian.Uint64(c.row[8:])) }

// Tag is a tag by its place in the table; false if the row lacks it.
func (c *Cursor) Tag(tag int) ([]byte, bool) {
	if int(int8(c.row[17])) == tag {
		return nil, false
	}
	series := c.Series()
	key := series*int64(len(c.tables)) + int64(c.table)
	tags, ok := c.tags[key]
	if !ok && len(c.tags) < maxSeriesCached {
		for i := range c.tables[c.table].Tags {
			tags = append(tags, c.generator.AppendTag(nil, series, c.table, i))
		}
		c.tags[key] = tags
	}
	if tags != nil {
		return tags[tag], true
	}
	for len(c.scratch) <= tag {
		c.scratch = append(c.scratch, nil)
	}
	c.scratch[tag] = c.generator.AppendTag(c.scratch[tag][:0], series, c.table, tag)
	return c.scratch[tag], true
}

// Integer is an integer field by its place in the table; false if the row lacks it.
func (c *Cursor) Integer(field int) (int64, bool) {
	return c.value(field), int(int8(c.row[18])) != field
}

// Float is a field of any kind as a float; false if the row lacks it.
func (c *Cursor) Float(field int) (float64, bool) {
	number, ok := c.Integer(field)
	described := &c.tables[c.table].Fields[field]
	if described.Kind == dataset.Integer {
		return float64(number), ok
	}
	return float(described, number), ok
}

// value is the number of a field as it was made.
func (c *Cursor) value(field int) int64 {
	return int64(binary.LittleEndian.Uint64(c.row[rowHead+rowValue*field:]))
}
