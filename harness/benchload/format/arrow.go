package format

import (
	"bytes"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"benchbook/benchload/dataset"
)

// Arrow is a row of complete Arrow IPC streams, one after the other. Each holds
// one record batch of one table, named by the schema's metadata key "table":
// time, tags, fields. A reader opens streams until the end of the file.
type Arrow struct {
	generator dataset.Generator
	schemas   []*arrow.Schema
	places    []int
}

// NewArrow prepares the schemas of a dataset.
func NewArrow(generator dataset.Generator) *Arrow {
	f := &Arrow{generator: generator}
	place := 0
	for _, table := range generator.Tables() {
		columns := []arrow.Field{{Name: "time", Type: &arrow.TimestampType{Unit: arrow.Nanosecond, TimeZone: "UTC"}}}
		for _, tag := range table.Tags {
			columns = append(columns, arrow.Field{Name: tag, Type: arrow.BinaryTypes.String})
		}
		for _, field := range table.Fields {
			column := arrow.Field{Name: field.Name, Type: arrow.PrimitiveTypes.Int64}
			if field.Kind == dataset.Decimal {
				column.Type = arrow.PrimitiveTypes.Float64
			}
			columns = append(columns, column)
		}
		metadata := arrow.NewMetadata([]string{"table"}, []string{table.Name})
		f.schemas = append(f.schemas, arrow.NewSchema(columns, &metadata))
		f.places = append(f.places, place)
		place += len(table.Fields)
	}
	return f
}

// Header is empty: every stream has its own schema.
func (f *Arrow) Header() []byte { return nil }

// Renderer makes a renderer for one goroutine.
func (f *Arrow) Renderer() Renderer {
	r := &arrowBatches{format: f, tags: map[int64][][]byte{}}
	for _, schema := range f.schemas {
		r.builders = append(r.builders, array.NewRecordBuilder(memory.DefaultAllocator, schema))
	}
	return r
}

// arrowBatches is the renderer of Arrow: it gathers rows until Finish.
type arrowBatches struct {
	format   *Arrow
	builders []*array.RecordBuilder
	tags     map[int64][][]byte // of (series, table), as far as there is room
}

// Append gathers rows; the text grows at Finish.
func (r *arrowBatches) Append(text []byte, block *dataset.Block, from, end int64) []byte {
	tables := int64(block.Tables)
	for row := from; row < end; row++ {
		at := row / tables
		tick, series := int(at/int64(block.Count)), at%int64(block.Count)
		r.add(int(row%tables), r.format.generator.Extent().Time(block.Tick+int64(tick)),
			block.Series+series, block.At(tick, int(series)))
	}
	return text
}

// add gathers one row.
func (r *arrowBatches) add(table int, time, series int64, values []int64) {
	builder := r.builders[table]
	builder.Field(0).(*array.TimestampBuilder).Append(arrow.Timestamp(time))
	column := 1
	for _, tag := range r.tagsOf(series, table) {
		builder.Field(column).(*array.StringBuilder).BinaryBuilder.Append(tag)
		column++
	}
	fields := r.format.generator.Tables()[table].Fields
	for i, value := range values[r.format.places[table]:][:len(fields)] {
		if fields[i].Kind == dataset.Integer {
			builder.Field(column).(*array.Int64Builder).Append(value)
		} else {
			builder.Field(column).(*array.Float64Builder).Append(decimal(value))
		}
		column++
	}
}

// tagsOf gives the tags of a row.
func (r *arrowBatches) tagsOf(series int64, table int) [][]byte {
	tables := r.format.generator.Tables()
	key := series*int64(len(tables)) + int64(table)
	if tags, ok := r.tags[key]; ok {
		return tags
	}
	tags := make([][]byte, len(tables[table].Tags))
	for tag := range tags {
		tags[tag] = r.format.generator.AppendTag(nil, series, table, tag)
	}
	if len(r.tags) < maxSeriesCached {
		r.tags[key] = tags
	}
	return tags
}

// Finish writes one stream for each table that has rows.
func (r *arrowBatches) Finish(text []byte) []byte {
	for i, builder := range r.builders {
		batch := builder.NewRecordBatch()
		if batch.NumRows() > 0 {
			text = appendStream(text, r.format.schemas[i], batch)
		}
		batch.Release()
	}
	return text
}

// appendStream appends a complete stream. Writing to memory does not fail.
func appendStream(text []byte, schema *arrow.Schema, batch arrow.RecordBatch) []byte {
	buffer := bytes.NewBuffer(text)
	writer := ipc.NewWriter(buffer, ipc.WithSchema(schema))
	if err := writer.Write(batch); err != nil {
		panic("format: " + err.Error())
	}
	if err := writer.Close(); err != nil {
		panic("format: " + err.Error())
	}
	return buffer.Bytes()
}

// decimal is the float64 nearest to value/10^DecimalPlaces, the one that a
// reader of the printed digits gets.
func decimal(value int64) float64 {
	if value < 1<<53 {
		return float64(value) / dataset.DecimalUnit
	}
	text := strconv.AppendInt(make([]byte, 0, 24), value, 10)
	number, err := strconv.ParseFloat(string(append(text, "e-14"...)), 64)
	if err != nil {
		panic("format: " + err.Error())
	}
	return number
}
