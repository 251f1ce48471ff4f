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
	extent    dataset.Extent
	schemas   []*arrow.Schema
	places    []int
}

// NewArrow prepares the schemas of a dataset.
func NewArrow(generator dataset.Generator) *Arrow {
	f := &Arrow{generator: generator, extent: generator.Extent(), places: placesOf(generator.Tables())}
	_, nullable := generator.(dataset.Irregular) // whose rows lack values
	for _, table := range generator.Tables() {
		columns := []arrow.Field{{Name: "time", Type: &arrow.TimestampType{Unit: arrow.Nanosecond, TimeZone: "UTC"}}}
		for _, tag := range table.Tags {
			columns = append(columns, arrow.Field{Name: tag, Type: arrow.BinaryTypes.String, Nullable: nullable})
		}
		for _, field := range table.Fields {
			column := arrow.Field{Name: field.Name, Type: arrow.PrimitiveTypes.Int64, Nullable: nullable}
			if field.Kind != dataset.Integer {
				column.Type = arrow.PrimitiveTypes.Float64
			}
			columns = append(columns, column)
		}
		metadata := arrow.NewMetadata([]string{"table"}, []string{table.Name})
		f.schemas = append(f.schemas, arrow.NewSchema(columns, &metadata))
	}
	return f
}

// Header returns nothing: every stream has its own schema.
func (f *Arrow) Header() []byte { return nil }

// Renderer creates a renderer for one goroutine.
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
	for number := from; number < end; number++ {
		row := block.Row(number)
		r.add(&row, r.format.extent.Time(block.Tick+int64(row.Tick)), block.Series+int64(row.Series), block.Values[row.At:])
	}
	return text
}

// add gathers one row.
func (r *arrowBatches) add(row *dataset.Row, time, series int64, values []int64) {
	table := int(row.Table)
	builder := r.builders[table]
	builder.Field(0).(*array.TimestampBuilder).Append(arrow.Timestamp(time))
	column := 1
	for i, tag := range r.tagsOf(series, table) {
		if i == int(row.NoTag) {
			builder.Field(column).AppendNull()
		} else {
			builder.Field(column).(*array.StringBuilder).BinaryBuilder.Append(tag)
		}
		column++
	}
	fields := r.format.generator.Tables()[table].Fields
	for i, value := range values[r.format.places[table]:][:len(fields)] {
		switch {
		case i == int(row.NoField):
			builder.Field(column).AppendNull()
		case fields[i].Kind == dataset.Integer:
			builder.Field(column).(*array.Int64Builder).Append(value)
		default:
			builder.Field(column).(*array.Float64Builder).Append(float(&fields[i], value))
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

// float is the value of a field that is not an integer.
func float(field *dataset.Field, value int64) float64 {
	switch {
	case field.Kind == dataset.Decimal:
		return decimal(value)
	case field.Places == 0:
		return float64(value)
	case field.Places == 1:
		return float64(value) / 10
	}
	return float64(value) / 100_000
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
