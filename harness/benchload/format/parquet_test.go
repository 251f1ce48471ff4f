package format_test

import (
	"bytes"
	"context"
	"strconv"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"benchbook/benchload/format"
)

// The reader of Arrow finds every value of every table in the file.
func TestParquetHoldsWhatTheTextHolds(t *testing.T) {
	for _, d := range datasets {
		for _, name := range d.names {
			names, want := reference(t, d, name)
			g := d.table(name)
			for _, piece := range []int64{7, 100, 1 << 20} {
				reader, err := file.NewParquetReader(bytes.NewReader(bytesOf(g, format.NewParquet(g), piece)))
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				if groups := (len(want) + int(piece) - 1) / int(piece); reader.NumRowGroups() != groups || reader.NumRows() != int64(len(want)) {
					t.Errorf("%s: %d groups and %d rows, want %d and %d", name, reader.NumRowGroups(), reader.NumRows(), groups, len(want))
				}
				arrows, err := pqarrow.NewFileReader(reader, pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
				if err != nil {
					t.Fatal(err)
				}
				table, err := arrows.ReadTable(context.Background())
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				if kind, ok := table.Schema().Field(0).Type.(*arrow.TimestampType); !ok || kind.Unit != arrow.Nanosecond || kind.TimeZone != "UTC" {
					t.Errorf("%s: the time is %v", name, table.Schema().Field(0).Type)
				}
				for column := range names {
					row := 0
					for _, chunk := range table.Column(column).Data().Chunks() {
						for i := range chunk.Len() {
							if got := textOf(chunk, i); got != want[row][column] && !sameFloat(got, want[row][column]) {
								t.Fatalf("%s, row %d: %s is %q, want %q", name, row, names[column], got, want[row][column])
							}
							row++
						}
					}
					if row != len(want) || table.Schema().Field(column).Name != names[column] {
						t.Fatalf("%s has %d rows in %s, want %d", name, row, names[column], len(want))
					}
				}
				table.Release()
			}
		}
	}
}

// textOf is a value as text; empty for none.
func textOf(values arrow.Array, i int) string {
	if values.IsNull(i) {
		return ""
	}
	switch typed := values.(type) {
	case *array.Timestamp:
		return strconv.FormatInt(int64(typed.Value(i)), 10)
	case *array.String:
		return typed.Value(i)
	case *array.Int64:
		return strconv.FormatInt(typed.Value(i), 10)
	case *array.Float64:
		return strconv.FormatFloat(typed.Value(i), 'f', -1, 64)
	}
	return "?" + values.DataType().String()
}

// sameFloat reports whether two texts are the same float64.
func sameFloat(a, b string) bool {
	x, err := strconv.ParseFloat(a, 64)
	y, also := strconv.ParseFloat(b, 64)
	return err == nil && also == nil && x == y
}
