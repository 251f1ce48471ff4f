package format

import (
	"time"

	"benchbook/benchload/dataset"
)

// Elasticsearch is the body of its bulk requests: two lines a row, of which the
// first names the index, which is the table, and the second is the document:
// tags, fields, and the time as @timestamp. Absent values are absent members.
type Elasticsearch struct {
	generator dataset.Generator
	extent    dataset.Extent
	places    []int
	names     [][]string // of the fields of each table, as ,"name":
	longest   int        // the most bytes of a row behind its tags
}

// NewElasticsearch prepares the documents of a dataset.
func NewElasticsearch(generator dataset.Generator) *Elasticsearch {
	f := &Elasticsearch{generator: generator, extent: generator.Extent(), places: placesOf(generator.Tables())}
	for _, table := range generator.Tables() {
		var names []string
		longest := 128
		for _, field := range table.Fields {
			names = append(names, `,"`+field.Name+`":`)
			longest += len(field.Name) + 40
		}
		f.names = append(f.names, names)
		f.longest = max(f.longest, longest)
	}
	return f
}

// Header returns nothing.
func (f *Elasticsearch) Header() []byte { return nil }

// Renderer creates a renderer for one goroutine.
func (f *Elasticsearch) Renderer() Renderer {
	r := &documents{format: f, tick: -1 << 63}
	r.heads = newSeriesText(len(f.names), func(text []byte, series int64, table, without int) []byte {
		// Not create, which Elasticsearch 6 refuses for a document without an id of ours.
		text = append(text, `{"index":{"_index":"`...)
		text = append(text, f.generator.Tables()[table].Name...)
		text = append(text, "\"}}\n{"...)
		return appendJSONTags(text, f.generator, series, table, without)
	})
	return r
}

// documents is the renderer of Elasticsearch.
type documents struct {
	format *Elasticsearch
	heads  seriesText
	tick   int64  // of the text below
	moment []byte // ,"@timestamp":"…"
}

// Finish does nothing: a piece has no end.
func (r *documents) Finish(text []byte) []byte { return text }

// Append appends documents.
func (r *documents) Append(text []byte, block *dataset.Block, from, end int64) []byte {
	f := r.format
	for number := from; number < end; number++ {
		row := block.Row(number)
		r.at(block.Tick + int64(row.Tick))
		table := int(row.Table)
		head := r.heads.of(block.Series+int64(row.Series), table, int(row.NoTag))
		text = room(text, len(head)+f.longest)
		text = append(append(text, head...), r.moment...)
		fields := f.generator.Tables()[table].Fields
		for i, value := range block.Values[int(row.At)+f.places[table]:][:len(fields)] {
			if i != int(row.NoField) {
				text = appendNumber(append(text, f.names[table][i]...), &fields[i], value)
			}
		}
		text = append(text, "}\n"...)
	}
	return text
}

// at makes the member with the time of a tick.
func (r *documents) at(tick int64) {
	if tick == r.tick {
		return
	}
	r.tick = tick
	r.moment = append(r.moment[:0], `,"@timestamp":"`...)
	r.moment = time.Unix(0, r.format.extent.Time(tick)).UTC().AppendFormat(r.moment, time.RFC3339Nano)
	r.moment = append(r.moment, '"')
}
