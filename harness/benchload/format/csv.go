package format

import (
	"strconv"

	"benchbook/benchload/dataset"
)

// CSV is comma-separated text of one table: time, tags, fields. Times are
// nanoseconds since 1970. No value needs quotes; absent ones are empty.
type CSV struct {
	generator dataset.Generator
	extent    dataset.Extent
	table     *dataset.Table
}

// NewCSV prepares the text of a dataset with one table.
func NewCSV(generator dataset.Generator) *CSV {
	return &CSV{generator, generator.Extent(), &generator.Tables()[0]}
}

// Header returns the line of names.
func (f *CSV) Header() []byte {
	text := []byte("time")
	for _, tag := range f.table.Tags {
		text = append(append(text, ','), tag...)
	}
	for _, field := range f.table.Fields {
		text = append(append(text, ','), field.Name...)
	}
	return append(text, '\n')
}

// Renderer creates a renderer for one goroutine.
func (f *CSV) Renderer() Renderer { return &csvLines{format: f} }

// csvLines is the renderer of CSV.
type csvLines struct{ format *CSV }

// Finish does nothing: a piece has no end.
func (r *csvLines) Finish(text []byte) []byte { return text }

// Append appends lines.
func (r *csvLines) Append(text []byte, block *dataset.Block, from, end int64) []byte {
	f := r.format
	longest := 512 + 24*len(f.table.Fields) + 32*len(f.table.Tags)
	for number := from; number < end; number++ {
		row := block.Row(number)
		text = room(text, longest)
		text = strconv.AppendInt(text, f.extent.Time(block.Tick+int64(row.Tick)), 10)
		for tag := range f.table.Tags {
			text = append(text, ',')
			if tag != int(row.NoTag) {
				text = f.generator.AppendTag(text, block.Series+int64(row.Series), 0, tag)
			}
		}
		for i, value := range block.Values[row.At:][:len(f.table.Fields)] {
			at := len(text) + 1
			text = append(text, ',')[:cap(text)]
			field := &f.table.Fields[i]
			switch {
			case i == int(row.NoField):
			case field.Kind == dataset.Integer:
				at = putInteger(text, at, value)
			case field.Kind == dataset.Short:
				at = putShort(text, at, value, field.Places)
			default:
				at = putDecimal(text, at, value)
			}
			text = text[:at]
		}
		text = append(text, '\n')
	}
	return text
}
