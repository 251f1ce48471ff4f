package influx

import (
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"strings"
	"time"

	"benchbook/benchload/query/spec"
	"benchbook/benchload/target"
)

// Text returns the path of the request for a query, as the suite asks it.
func (t *Influx) Text(query spec.Query) ([]byte, error) {
	return []byte("/query?" + url.Values{"db": {t.database}, "q": {Statement(query)}}.Encode()), nil
}

// Statement returns the query in InfluxQL.
func Statement(q spec.Query) string {
	if q.Form != "" {
		return iotStatement(q)
	}
	var text strings.Builder
	fmt.Fprintf(&text, "SELECT %s(%s) from %s where ", q.Aggregate, q.Field, q.Table)
	for i, host := range q.Hosts {
		text.WriteString([]string{"(", " or "}[min(i, 1)])
		fmt.Fprintf(&text, "hostname = '%s'", host)
	}
	if len(q.Hosts) > 0 {
		text.WriteString(") and ")
	}
	fmt.Fprintf(&text, "time >= '%s' and time < '%s' group by time(%s)", moment(q.StartNS), moment(q.EndNS), bucket(q.BucketNS))
	if q.GroupByHost {
		text.WriteString(",hostname")
	}
	return text.String()
}

// moment is a time in InfluxQL, to the nanosecond.
func moment(ns int64) string { return time.Unix(0, ns).UTC().Format("2006-01-02T15:04:05.999999999Z") }

// bucket is a length of time in InfluxQL, in the largest unit that divides it.
func bucket(ns int64) string {
	for _, unit := range []struct {
		size int64
		name string
	}{{3600e9, "h"}, {60e9, "m"}, {1e9, "s"}, {1e6, "ms"}, {1e3, "u"}} {
		if ns%unit.size == 0 {
			return fmt.Sprintf("%d%s", ns/unit.size, unit.name)
		}
	}
	return fmt.Sprintf("%dns", ns)
}

// Rows reads an answer. Buckets without a value are left out: other systems do not have
// rows for them.
func (t *Influx) Rows(query spec.Query, body []byte) ([]target.Row, error) {
	var a answer
	decoder := json.NewDecoder(strings.NewReader(string(body)))
	decoder.UseNumber()
	if err := decoder.Decode(&a); err != nil {
		return nil, fmt.Errorf("the answer is not JSON: %w", err)
	}
	if words := a.firstError(); words != "" {
		return nil, fmt.Errorf("the answer is an error: %s", words)
	}
	if query.Form != "" {
		return iotRows(query, a)
	}
	var rows []target.Row
	for _, r := range a.Results {
		for _, s := range r.Series {
			for _, value := range s.Values {
				row, ok, err := readRow(value)
				if err != nil {
					return nil, err
				}
				if ok {
					row.Host = s.Tags["hostname"]
					rows = append(rows, row)
				}
			}
		}
	}
	return rows, nil
}

// readRow reads a time and a value; false for a bucket without a value.
func readRow(value []any) (target.Row, bool, error) {
	if len(value) != 2 {
		return target.Row{}, false, fmt.Errorf("a row of the answer has %d columns and not time and value", len(value))
	}
	if value[1] == nil {
		return target.Row{}, false, nil
	}
	number, isNumber := value[1].(json.Number)
	if !isNumber {
		return target.Row{}, false, fmt.Errorf("a row of the answer is %v and not a time and a number", value)
	}
	ns, err := readMoment(value[0])
	if err != nil {
		return target.Row{}, false, err
	}
	float, err := number.Float64()
	if err != nil || math.IsNaN(float) {
		return target.Row{}, false, fmt.Errorf("a row of the answer has the value %s", number)
	}
	return target.Row{TimeNS: ns, Value: float}, true, nil
}

// readMoment reads a time, which is text.
func readMoment(value any) (int64, error) {
	text, _ := value.(string)
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return 0, fmt.Errorf("a row of the answer has the time %v, which is not one of RFC 3339", value)
	}
	return at.UnixNano(), nil
}
