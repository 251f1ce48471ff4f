package format

import (
	"encoding/binary"
	"math"

	"benchbook/benchload/dataset"
)

// Postgres is the binary stream of COPY … FROM STDIN (FORMAT binary) into one
// table: time as timestamptz, tags as text, fields as bigint or double
// precision; absent values are NULL. Its times are whole microseconds.
type Postgres struct {
	generator dataset.Generator
	extent    dataset.Extent
	table     *dataset.Table
}

// postgresEpoch is the nanoseconds from 1970 to 2000, where PostgreSQL begins to count.
const postgresEpoch = 946_684_800_000_000_000

// NewPostgres prepares the stream of a dataset with one table.
func NewPostgres(generator dataset.Generator) *Postgres {
	return &Postgres{generator, generator.Extent(), &generator.Tables()[0]}
}

// Header returns the signature, no flags, and no extension.
func (f *Postgres) Header() []byte {
	return append([]byte("PGCOPY\n\xff\r\n\x00"), make([]byte, 8)...)
}

// Place writes pieces as they are.
func (f *Postgres) Place(piece []byte) []byte { return piece }

// Footer returns the number of columns that ends the stream.
func (f *Postgres) Footer() []byte { return []byte{0xff, 0xff} }

// Renderer creates a renderer for one goroutine.
func (f *Postgres) Renderer() Renderer {
	r := &tuples{format: f}
	r.tags = newSeriesText(1, func(text []byte, series int64, _, without int) []byte {
		for tag := range f.table.Tags {
			if tag == without {
				text = binary.BigEndian.AppendUint32(text, math.MaxUint32)
				continue
			}
			at := len(text)
			text = f.generator.AppendTag(append(text, 0, 0, 0, 0), series, 0, tag)
			binary.BigEndian.PutUint32(text[at:], uint32(len(text)-at-4))
		}
		return text
	})
	return r
}

// tuples is the renderer of Postgres.
type tuples struct {
	format *Postgres
	tags   seriesText // as columns
}

// Finish does nothing: a piece has no end.
func (r *tuples) Finish(text []byte) []byte { return text }

// Append appends rows.
func (r *tuples) Append(text []byte, block *dataset.Block, from, end int64) []byte {
	f := r.format
	columns := uint16(1 + len(f.table.Tags) + len(f.table.Fields))
	for number := from; number < end; number++ {
		row := block.Row(number)
		tags := r.tags.of(block.Series+int64(row.Series), 0, int(row.NoTag))
		text = room(text, 2+12+len(tags)+12*len(f.table.Fields))
		text = binary.BigEndian.AppendUint16(text, columns)
		text = appendWord(text, uint64((f.extent.Time(block.Tick+int64(row.Tick))-postgresEpoch)/1000))
		text = append(text, tags...)
		for i, value := range block.Values[row.At:][:len(f.table.Fields)] {
			field := &f.table.Fields[i]
			switch {
			case i == int(row.NoField):
				text = binary.BigEndian.AppendUint32(text, math.MaxUint32)
			case field.Kind == dataset.Integer:
				text = appendWord(text, uint64(value))
			default:
				text = appendWord(text, math.Float64bits(float(field, value)))
			}
		}
	}
	return text
}

// appendWord appends a column of eight bytes.
func appendWord(text []byte, word uint64) []byte {
	return binary.BigEndian.AppendUint64(append(text, 0, 0, 0, 8), word)
}
