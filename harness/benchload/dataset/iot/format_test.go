package iot

import (
	"bytes"
	"encoding/csv"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"benchbook/benchload/format"
	"benchbook/benchload/stream"
	"benchbook/benchload/stream/streamtest"
)

// CSV and Arrow have the same rows as line protocol, with empty and null where a
// line has nothing.
func TestFormatsAgree(t *testing.T) {
	for _, table := range TableNames() {
		e := extent(20, 90)
		e.Table = table
		g := New(e)
		want := lines(t, e)
		columns := append([]string{"time"}, tags...)
		for _, field := range g.Tables()[0].Fields {
			columns = append(columns, field.Name)
		}
		cell := func(row int, name string) string {
			l := want[row]
			if name == "time" {
				return strconv.FormatInt(l.time, 10)
			}
			return l.tags[name] + strings.TrimSuffix(l.fields[name], "i")
		}

		whole := func(f format.Format) []byte {
			header := append([]byte{}, f.Header()...)
			return append(header, streamtest.Read(g, f, stream.Options{PieceRows: 500})...)
		}
		records, err := csv.NewReader(bytes.NewReader(whole(format.NewCSV(g)))).ReadAll()
		if err != nil || len(records) != len(want)+1 {
			t.Fatalf("%d lines of CSV, want %d (%v)", len(records), len(want)+1, err)
		}
		for row, record := range records[1:] {
			for column, name := range columns {
				if record[column] != cell(row, name) {
					t.Fatalf("row %d: %s is %q, want %q", row, name, record[column], cell(row, name))
				}
			}
		}

		row := 0
		for rest := bytes.NewReader(whole(format.NewArrow(g))); rest.Len() > 0; {
			reader, err := ipc.NewReader(rest)
			if err != nil {
				t.Fatal(err)
			}
			for reader.Next() {
				batch := reader.RecordBatch()
				for i := range int(batch.NumRows()) {
					for column, name := range columns[1:] {
						values := batch.Column(column + 1)
						got := ""
						if !values.IsNull(i) {
							switch typed := values.(type) {
							case *array.String:
								got = typed.Value(i)
							case *array.Int64:
								got = strconv.FormatInt(typed.Value(i), 10)
							case *array.Float64:
								got = strconv.FormatFloat(typed.Value(i), 'f', -1, 64)
							}
						}
						if got != cell(row, name) {
							t.Fatalf("row %d: %s is %q, want %q", row, name, got, cell(row, name))
						}
					}
					row++
				}
			}
			if err := reader.Err(); err != nil && err != io.EOF {
				t.Fatal(err)
			}
			reader.Release()
		}
		if row != len(want) {
			t.Fatalf("%d rows of Arrow, want %d", row, len(want))
		}
	}
}
