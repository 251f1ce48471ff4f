package tabular

import (
	"slices"
	"testing"

	"benchbook/benchload/target"
)

func TestRowsAreReadAsTheyWereWritten(t *testing.T) {
	want := []target.Row{{TimeNS: 1, Host: "host_1", Value: 0.1}, {TimeNS: -2, Value: 1e300}}
	var body []byte
	for _, row := range want {
		body = Append(body, row)
	}
	if got, err := Rows(body); err != nil || !slices.Equal(got, want) {
		t.Errorf("the rows are %+v, error %v", got, err)
	}
}

func FuzzRows(f *testing.F) {
	f.Add("1\thost_1\t2.5\n")
	f.Add("1\t\tnan\n")
	f.Fuzz(func(t *testing.T, body string) {
		if rows, err := Rows([]byte(body)); err != nil && rows != nil {
			t.Error("there are rows beside an error")
		}
	})
}
