package format_test

import (
	"bytes"
	"encoding/csv"
	"io"
	"strconv"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"benchbook/benchload/dataset"
	"benchbook/benchload/dataset/devops"
	"benchbook/benchload/format"
	"benchbook/benchload/stream"
)

const start = 1451606400_000000000

func extent(table string) dataset.Extent {
	return dataset.Extent{
		Seed: 4, Scale: 3, Start: start, End: start + 100e9, Interval: 10e9,
		WindowStart: start, WindowEnd: start + 100e9, SeriesCount: 3, Table: table,
	}
}

// bytesOf gives a dataset in a format.
func bytesOf(generator dataset.Generator, f format.Format, rows int64) []byte {
	s := stream.New(generator, f, stream.Options{PieceRows: rows, Workers: 2})
	defer s.Close()
	framed, isFramed := f.(format.Framed)
	all := append([]byte{}, s.Header()...)
	for {
		piece, more := s.Next()
		if !more {
			if isFramed {
				all = append(all, framed.Footer()...)
			}
			return all
		}
		if isFramed {
			all = append(all, framed.Place(piece.Bytes)...)
		} else {
			all = append(all, piece.Bytes...)
		}
		s.Release(piece)
	}
}

// records reads the text of a table, by (time, host, field).
func records(t *testing.T) map[string]string {
	t.Helper()
	generator := devops.New(extent("cpu"))
	rows, err := csv.NewReader(bytes.NewReader(bytesOf(generator, format.NewCSV(generator), 4))).ReadAll()
	if err != nil || len(rows) != 31 || rows[0][0] != "time" || rows[0][1] != "hostname" || rows[0][11] != "usage_user" {
		t.Fatalf("%d lines, the first %v, error %v", len(rows), rows[0], err)
	}
	found := map[string]string{}
	for _, row := range rows[1:] {
		for i, value := range row {
			found[row[0]+row[1]+rows[0][i]] = value
		}
	}
	return found
}

func TestArrowHoldsWhatTheTextHolds(t *testing.T) {
	text := records(t)
	generator := devops.New(extent(""))
	in := bytes.NewReader(bytesOf(generator, format.NewArrow(generator), 9*7))
	counts := map[string]int64{}
	for in.Len() > 0 {
		// A reader may not read behind the end of its stream.
		reader, err := ipc.NewReader(in)
		if err != nil {
			t.Fatal(err)
		}
		table, _ := reader.Schema().Metadata().GetValue("table")
		for reader.Next() {
			batch := reader.RecordBatch()
			counts[table] += batch.NumRows()
			if batch.NumRows() > 7 {
				t.Errorf("a batch has %d rows, want at most 7", batch.NumRows())
			}
			if table != "cpu" {
				continue
			}
			for row := range int(batch.NumRows()) {
				when := strconv.FormatInt(int64(batch.Column(0).(*array.Timestamp).Value(row)), 10)
				host := batch.Column(1).(*array.String).Value(row)
				for column := 1; column < int(batch.NumCols()); column++ {
					want := text[when+host+batch.ColumnName(column)]
					switch values := batch.Column(column).(type) {
					case *array.String:
						if values.Value(row) != want {
							t.Errorf("the tag %s is %q, want %q", batch.ColumnName(column), values.Value(row), want)
						}
					case *array.Float64:
						if number, err := strconv.ParseFloat(want, 64); err != nil || values.Value(row) != number {
							t.Errorf("the field %s is %v, want %s", batch.ColumnName(column), values.Value(row), want)
						}
					}
				}
			}
		}
		if err := reader.Err(); err != nil && err != io.EOF {
			t.Fatal(err)
		}
		reader.Release()
	}
	for _, table := range devops.TableNames() {
		if counts[table] != 30 {
			t.Errorf("%s has %d rows, want 30", table, counts[table])
		}
	}
}
