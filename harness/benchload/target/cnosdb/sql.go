package cnosdb

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"benchbook/benchload/query/spec"
	"benchbook/benchload/target"
)

// Text returns the statement.
func (t *CnosDB) Text(query spec.Query) ([]byte, error) {
	statement, err := Statement(query)
	return []byte(statement), err
}

// Statement returns the query in the SQL of CnosDB. Buckets start at multiples of
// their length since 1970, and come in the order of time, as InfluxQL gives them.
func Statement(q spec.Query) (string, error) {
	if q.Form != "" {
		return iotStatement(q)
	}
	length, err := interval(q.BucketNS)
	if err != nil {
		return "", err
	}
	bucket := "date_bin(" + length + ", time, TIMESTAMP '1970-01-01T00:00:00Z')"
	aggregate := q.Aggregate
	if aggregate == "mean" {
		aggregate = "avg"
	}
	host, by := "", ""
	if q.GroupByHost {
		host, by = ", hostname", ", hostname"
	}
	var where strings.Builder
	if len(q.Hosts) > 0 {
		where.WriteString("hostname IN ('" + strings.Join(q.Hosts, "', '") + "') AND ")
	}
	fmt.Fprintf(&where, "time >= TIMESTAMP '%s' AND time < TIMESTAMP '%s'", moment(q.StartNS), moment(q.EndNS))
	return fmt.Sprintf("SELECT %s AS bucket%s, %s(%s) AS value FROM %s WHERE %s GROUP BY %s%s ORDER BY bucket",
		bucket, host, aggregate, q.Field, q.Table, where.String(), bucket, by), nil
}

// moment is a time in SQL, to the nanosecond.
func moment(ns int64) string { return time.Unix(0, ns).UTC().Format("2006-01-02T15:04:05.999999999Z") }

// readMoment reads a time of an answer: 2.4 writes a T between day and hour, 2.0 a space.
func readMoment(text string) (int64, error) {
	layout := "2006-01-02T15:04:05.999999999"
	if strings.Contains(text, " ") {
		layout = time.DateTime
	}
	when, err := time.Parse(layout, strings.TrimSuffix(text, "Z"))
	if err != nil {
		return 0, fmt.Errorf("a row of the answer has the time %q: %w", text, err)
	}
	return when.UnixNano(), nil
}

// interval is a length of time in SQL, in the larger unit that divides it.
func interval(ns int64) (string, error) {
	switch {
	case ns%1e9 == 0:
		return fmt.Sprintf("INTERVAL '%d second'", ns/1e9), nil
	case ns%1e6 == 0:
		return fmt.Sprintf("INTERVAL '%d millisecond'", ns/1e6), nil
	}
	return "", fmt.Errorf("bucket_ns is %d, but CnosDB takes whole milliseconds; make the queries with longer buckets", ns)
}

// row is one row of an answer; what is null is left out of it.
type row struct {
	Bucket   string       `json:"bucket"`
	Hostname string       `json:"hostname"`
	Value    *json.Number `json:"value"`
}

// Rows reads an answer. An answer without rows is an empty body.
func (t *CnosDB) Rows(query spec.Query, body []byte) ([]target.Row, error) {
	if len(bytes.TrimSpace(body)) == 0 {
		return nil, nil
	}
	if query.Form != "" {
		return iotRows(query, body)
	}
	var found []row
	if err := json.Unmarshal(body, &found); err != nil {
		return nil, fmt.Errorf("the answer is not a list of rows: %w", err)
	}
	var rows []target.Row
	for _, r := range found {
		if r.Value == nil {
			continue
		}
		when, err := readMoment(r.Bucket)
		if err != nil {
			return nil, err
		}
		value, err := r.Value.Float64()
		if err != nil {
			return nil, fmt.Errorf("a row of the answer has the value %s: %w", r.Value, err)
		}
		rows = append(rows, target.Row{TimeNS: when, Host: r.Hostname, Value: value})
	}
	return rows, nil
}
