package format

import (
	"strconv"

	"benchbook/benchload/dataset"
)

// CSV is comma-separated text of one table: time, tags, fields. Times are
// nanoseconds since 1970. No value needs quotes.
type CSV struct {
	generator dataset.Generator
	table     *dataset.Table
}

// NewCSV prepares the text of a dataset with one table.
func NewCSV(generator dataset.Generator) *CSV {
	return &CSV{generator, &generator.Tables()[0]}
}

// Header is the line of names.
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

// Renderer makes a renderer for one goroutine.
func (f *CSV) Renderer() Renderer { return &csvLines{format: f} }

// csvLines is the renderer of CSV.
type csvLines struct{ format *CSV }

// Finish has nothing to close.
func (r *csvLines) Finish(text []byte) []byte { return text }

// Append appends lines.
func (r *csvLines) Append(text []byte, block *dataset.Block, from, end int64) []byte {
	f := r.format
	longest := 512 + 24*len(f.table.Fields) + 32*len(f.table.Tags)
	for row := from; row < end; row++ {
		tick, series := row/int64(block.Count), row%int64(block.Count)
		text = room(text, longest)
		text = strconv.AppendInt(text, f.generator.Extent().Time(block.Tick+tick), 10)
		for tag := range f.table.Tags {
			text = f.generator.AppendTag(append(text, ','), block.Series+series, 0, tag)
		}
		for i, value := range block.At(int(tick), int(series)) {
			at := len(text) + 1
			text = append(text, ',')[:cap(text)]
			if f.table.Fields[i].Kind == dataset.Integer {
				at = putInteger(text, at, value)
			} else {
				at = putDecimal(text, at, value)
			}
			text = text[:at]
		}
		text = append(text, '\n')
	}
	return text
}
