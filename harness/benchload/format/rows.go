package format

import (
	"encoding/binary"

	"benchbook/benchload/dataset"
)

// Rows is rows for drivers that bind values instead of sending text (CQL, BSON,
// prepared statements): the numbers as they were made, in a compact form that
// only a Cursor reads. It is no format of files.
type Rows struct {
	generator dataset.Generator
	extent    dataset.Extent
	places    []int
}

// Sizes of a row: time, series, table, absent tag, absent field; then its values.
const (
	rowHead  = 8 + 8 + 3
	rowValue = 8
)

// NewRows prepares the rows of a dataset.
func NewRows(generator dataset.Generator) *Rows {
	return &Rows{generator, generator.Extent(), placesOf(generator.Tables())}
}

// Header returns nothing.
func (f *Rows) Header() []byte { return nil }

// Renderer creates a renderer for one goroutine.
func (f *Rows) Renderer() Renderer { return packedRows{f} }

// packedRows is the renderer of Rows.
type packedRows struct{ format *Rows }

// Finish does nothing: a piece has no end.
func (r packedRows) Finish(text []byte) []byte { return text }

// Append appends rows.
func (r packedRows) Append(text []byte, block *dataset.Block, from, end int64) []byte {
	f := r.format
	for number := from; number < end; number++ {
		row := block.Row(number)
		fields := len(f.generator.Tables()[row.Table].Fields)
		text = room(text, rowHead+rowValue*fields)
		text = binary.LittleEndian.AppendUint64(text, uint64(f.extent.Time(block.Tick+int64(row.Tick))))
		text = binary.LittleEndian.AppendUint64(text, uint64(block.Series+int64(row.Series)))
		text = append(text, row.Table, byte(row.NoTag), byte(row.NoField))
		for _, value := range block.Values[int(row.At)+f.places[row.Table]:][:fields] {
			text = binary.LittleEndian.AppendUint64(text, uint64(value))
		}
	}
	return text
}
