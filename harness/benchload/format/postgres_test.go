package format_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"testing"

	"benchbook/benchload/format"
)

// copied reads a binary COPY stream as PostgreSQL does: every length has to fit,
// every row has to have all columns, and nothing may follow the trailer.
func copied(stream []byte, columns int) ([][][]byte, error) {
	const signature = "PGCOPY\n\xff\r\n\x00"
	if len(stream) < len(signature)+8 || string(stream[:len(signature)]) != signature {
		return nil, fmt.Errorf("no signature")
	}
	flags := binary.BigEndian.Uint32(stream[len(signature):])
	extension := binary.BigEndian.Uint32(stream[len(signature)+4:])
	if flags != 0 || extension != 0 {
		return nil, fmt.Errorf("flags %d, extension of %d bytes", flags, extension)
	}
	rest := stream[len(signature)+8:]
	var rows [][][]byte
	for {
		if len(rest) < 2 {
			return nil, fmt.Errorf("the stream ends after row %d without a trailer", len(rows))
		}
		count := int16(binary.BigEndian.Uint16(rest))
		rest = rest[2:]
		if count == -1 {
			if len(rest) != 0 {
				return nil, fmt.Errorf("%d bytes follow the trailer", len(rest))
			}
			return rows, nil
		}
		if int(count) != columns {
			return nil, fmt.Errorf("row %d has %d columns", len(rows), count)
		}
		row := make([][]byte, columns)
		for i := range row {
			if len(rest) < 4 {
				return nil, fmt.Errorf("row %d is cut off", len(rows))
			}
			length := int32(binary.BigEndian.Uint32(rest))
			rest = rest[4:]
			if length == -1 {
				continue
			}
			if length < 0 || int(length) > len(rest) {
				return nil, fmt.Errorf("row %d has a column of %d bytes", len(rows), length)
			}
			row[i], rest = rest[:length:length], rest[length:]
		}
		rows = append(rows, row)
	}
}

func TestPostgresHoldsWhatTheTextHolds(t *testing.T) {
	for _, d := range datasets {
		for _, name := range d.names {
			names, want := reference(t, d, name)
			g := d.table(name)
			rows, err := copied(bytesOf(g, format.NewPostgres(g), 50), len(names))
			if err != nil || len(rows) != len(want) {
				t.Fatalf("%s: %d rows, want %d, error %v", name, len(rows), len(want), err)
			}
			for i, row := range rows {
				for column, value := range row {
					got := ""
					isTag, field := kindOf(g, column)
					switch {
					case value == nil:
					case isTag:
						got = string(value)
					case len(value) != 8:
						t.Fatalf("%s, row %d: %s has %d bytes", name, i, names[column], len(value))
					case field == nil:
						got = strconv.FormatInt((int64(binary.BigEndian.Uint64(value))+946_684_800_000_000)*1000, 10)
					case field.Kind == 0:
						got = strconv.FormatInt(int64(binary.BigEndian.Uint64(value)), 10)
					default:
						got = strconv.FormatFloat(math.Float64frombits(binary.BigEndian.Uint64(value)), 'f', -1, 64)
					}
					if got != want[i][column] && !sameFloat(got, want[i][column]) {
						t.Fatalf("%s, row %d: %s is %q, want %q", name, i, names[column], got, want[i][column])
					}
				}
			}
		}
	}
}
