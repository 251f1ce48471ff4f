// Package tabular is the form of answers from a client library or a text format with
// rows of columns: time, host and value, separated by tabs, one row per line.
package tabular

import (
	"bytes"
	"fmt"
	"math"
	"strconv"

	"benchbook/benchload/target"
)

// Append appends a row.
func Append(body []byte, row target.Row) []byte {
	body = strconv.AppendInt(body, row.TimeNS, 10)
	body = append(append(append(body, '\t'), row.Host...), '\t')
	body = strconv.AppendFloat(body, row.Value, 'g', -1, 64)
	return append(body, '\n')
}

// Rows reads the rows of a body.
func Rows(body []byte) ([]target.Row, error) {
	var rows []target.Row
	for len(body) > 0 {
		line, rest, _ := bytes.Cut(body, []byte("\n"))
		body = rest
		columns := bytes.Split(line, []byte("\t"))
		if len(columns) != 3 {
			return nil, fmt.Errorf("a row of the answer has %d columns and not time, host and value: %q", len(columns), line)
		}
		ns, err := strconv.ParseInt(string(columns[0]), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("a row of the answer has the time %q", columns[0])
		}
		value, err := strconv.ParseFloat(string(columns[2]), 64)
		if err != nil || math.IsNaN(value) {
			return nil, fmt.Errorf("a row of the answer has the value %q", columns[2])
		}
		rows = append(rows, target.Row{TimeNS: ns, Host: string(columns[1]), Value: value})
	}
	return rows, nil
}
