package format

import (
	"strconv"

	"benchbook/benchload/dataset"
)

// OpenTSDB is the data points of /api/put as JSON, one object a line: the metric
// is table.field, times are milliseconds. A row of n values is n lines; lines
// joined by commas between brackets are the body of a request.
type OpenTSDB struct {
	generator dataset.Generator
	extent    dataset.Extent
	places    []int
	heads     [][]string // of the fields of each table: {"metric":"table.field","timestamp":
}

// NewOpenTSDB prepares the points of a dataset.
func NewOpenTSDB(generator dataset.Generator) *OpenTSDB {
	f := &OpenTSDB{generator: generator, extent: generator.Extent(), places: placesOf(generator.Tables())}
	for _, table := range generator.Tables() {
		var heads []string
		for _, field := range table.Fields {
			heads = append(heads, `{"metric":"`+table.Name+"."+field.Name+`","timestamp":`)
		}
		f.heads = append(f.heads, heads)
	}
	return f
}

// Header returns nothing.
func (f *OpenTSDB) Header() []byte { return nil }

// Renderer creates a renderer for one goroutine.
func (f *OpenTSDB) Renderer() Renderer {
	r := &points{format: f, tick: -1 << 63}
	r.tails = newSeriesText(len(f.heads), func(text []byte, series int64, table, without int) []byte {
		text = append(text, `,"tags":{`...)
		return append(appendJSONTags(text, f.generator, series, table, without), "}}\n"...)
	})
	return r
}

// points is the renderer of OpenTSDB.
type points struct {
	format *OpenTSDB
	tails  seriesText
	tick   int64  // of the text below
	moment []byte // time,"value":
}

// Finish does nothing: a piece has no end.
func (r *points) Finish(text []byte) []byte { return text }

// Append appends points.
func (r *points) Append(text []byte, block *dataset.Block, from, end int64) []byte {
	f := r.format
	for number := from; number < end; number++ {
		row := block.Row(number)
		if tick := block.Tick + int64(row.Tick); tick != r.tick {
			r.tick = tick
			r.moment = strconv.AppendInt(r.moment[:0], f.extent.Time(tick)/1e6, 10)
			r.moment = append(r.moment, `,"value":`...)
		}
		table := int(row.Table)
		tail := r.tails.of(block.Series+int64(row.Series), table, int(row.NoTag))
		fields := f.generator.Tables()[table].Fields
		for i, value := range block.Values[int(row.At)+f.places[table]:][:len(fields)] {
			if i == int(row.NoField) {
				continue
			}
			head := f.heads[table][i]
			text = room(text, len(head)+len(r.moment)+len(tail)+32)
			text = append(append(text, head...), r.moment...)
			text = append(appendNumber(text, &fields[i], value), tail...)
		}
	}
	return text
}
