package format_test

import (
	"strconv"
	"testing"

	"benchbook/benchload/dataset"
	"benchbook/benchload/format"
	"benchbook/benchload/stream"
)

// cells are the columns of a cursor's row as text; empty for none.
func cells(c *format.Cursor) []string {
	all := []string{strconv.FormatInt(c.Time(), 10)}
	for tag := range c.Table().Tags {
		text, _ := c.Tag(tag)
		all = append(all, string(text))
	}
	for i, field := range c.Table().Fields {
		got := ""
		if number, ok := c.Integer(i); ok && field.Kind == dataset.Integer {
			got = strconv.FormatInt(number, 10)
		} else if float, ok := c.Float(i); ok {
			got = strconv.FormatFloat(float, 'f', -1, 64)
		}
		all = append(all, got)
	}
	return all
}

func TestACursorHoldsWhatTheTextHolds(t *testing.T) {
	for _, d := range datasets {
		want := map[string][][]string{}
		for _, table := range d.names {
			_, want[table] = reference(t, d, table)
		}
		g := d.table("")
		rows := format.NewRows(g)
		cursor := rows.Cursor()
		cursor.Reset(bytesOf(g, rows, 50))
		for cursor.Next() {
			name := cursor.Table().Name
			row := want[name][0]
			want[name] = want[name][1:]
			for column, got := range cells(cursor) {
				if got != row[column] && !sameFloat(got, row[column]) {
					t.Fatalf("%s: column %d is %q, want %q", name, column, got, row[column])
				}
			}
		}
		for table, left := range want {
			if len(left) > 0 {
				t.Errorf("%s lacks %d rows", table, len(left))
			}
		}
	}
}

func TestACursorGivesTheRowsOfOneTable(t *testing.T) {
	g := datasets[1].table("")
	rows := format.NewRows(g)
	piece := bytesOf(g, rows, 50)
	cursor := rows.Cursor()
	cursor.Reset(piece)
	want := make([]int, len(cursor.Tables()))
	for cursor.Next() {
		want[cursor.TableNumber()]++
	}
	for table := range want {
		cursor.Only(table)
		got := 0
		for cursor.Next() {
			if got++; cursor.TableNumber() != table {
				t.Fatalf("a row of table %d is given for table %d", cursor.TableNumber(), table)
			}
		}
		if got != want[table] || got == 0 {
			t.Errorf("table %d has %d rows, want %d", table, got, want[table])
		}
	}
}

func TestACursorDoesNotAllocate(t *testing.T) {
	g := datasets[1].table("")
	rows := format.NewRows(g)
	s := stream.New(g, rows, stream.Options{Workers: 1})
	piece, _ := s.Next()
	s.Close() // what it makes ahead is not the cursor's
	cursor := rows.Cursor()
	sum := 0.0
	read := func() {
		cursor.Reset(piece.Bytes)
		for cursor.Next() {
			for tag := range cursor.Table().Tags {
				text, _ := cursor.Tag(tag)
				sum += float64(len(text))
			}
			for field := range cursor.Table().Fields {
				value, _ := cursor.Float(field)
				sum += value
			}
		}
	}
	read() // the tags are kept from now on
	if allocations := testing.AllocsPerRun(20, read); allocations > 0 {
		t.Errorf("%v allocations for %d rows", allocations, piece.Rows)
	}
}
