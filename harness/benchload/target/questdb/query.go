package questdb

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"benchbook/benchload/query/spec"
	"benchbook/benchload/target"
	"benchbook/benchload/target/lines"
)

// microsecond is the unit of its times.
const microsecond = 1000

// Text returns the path of the request for a query.
func (t *QuestDB) Text(query spec.Query) ([]byte, error) {
	statement, err := Statement(query)
	return []byte("/exec?" + url.Values{"query": {statement}}.Encode()), err
}

// Statement returns the query in the SQL of QuestDB.
func Statement(q spec.Query) (string, error) {
	if q.Form != "" {
		return "", errors.New("the queries of the iot use case are not rendered for questdb")
	}
	if q.BucketNS%1e9 != 0 {
		return "", errors.New("questdb has no buckets of parts of a second here")
	}
	start, end := q.Within(microsecond)
	where := fmt.Sprintf("timestamp >= '%s' AND timestamp < '%s'", moment(start), moment(end))
	if len(q.Hosts) > 0 {
		where = "hostname IN ('" + strings.Join(q.Hosts, "', '") + "') AND " + where
	}
	host := ""
	if q.GroupByHost {
		host = ", hostname"
	}
	function := map[string]string{"max": "max", "mean": "avg"}[q.Aggregate]
	return fmt.Sprintf("SELECT timestamp%s, %s(%s) FROM %s WHERE %s SAMPLE BY %ds ALIGN TO CALENDAR",
		host, function, q.Field, q.Table, where, q.BucketNS/1e9), nil
}

// moment is a time in SQL.
func moment(us int64) string {
	return time.UnixMicro(us).UTC().Format("2006-01-02T15:04:05.000000Z")
}

// Query sends a query and reads the whole answer.
func (c *client) Query(text []byte) (target.Answer, error) {
	status, answer, err := c.Ask("GET", string(text), c.headers, nil)
	if err != nil {
		return answer, err
	}
	if failure := lines.Check(status, answer.Body); failure != nil {
		return answer, failure
	}
	return answer, nil
}

// Rows reads an answer: time, the host if the query groups by it, value.
func (t *QuestDB) Rows(query spec.Query, body []byte) ([]target.Row, error) {
	var found struct {
		Dataset [][]any `json:"dataset"`
	}
	if err := json.Unmarshal(body, &found); err != nil {
		return nil, fmt.Errorf("the answer is not in QuestDB's form: %w", err)
	}
	var rows []target.Row
	for _, columns := range found.Dataset {
		row, ok, err := readRow(query, columns)
		if err != nil {
			return nil, err
		}
		if ok {
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// readRow reads one row; false for a bucket without a value.
func readRow(query spec.Query, columns []any) (row target.Row, ok bool, err error) {
	wanted := 2
	if query.GroupByHost {
		wanted = 3
	}
	if len(columns) != wanted {
		return row, false, fmt.Errorf("a row of the answer has %d columns and not %d", len(columns), wanted)
	}
	if columns[wanted-1] == nil {
		return row, false, nil
	}
	text, isText := columns[0].(string)
	value, isNumber := columns[wanted-1].(float64)
	if !isText || !isNumber {
		return row, false, fmt.Errorf("a row of the answer is %v and not a time and a number", columns)
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return row, false, fmt.Errorf("a row of the answer has the time %q", text)
	}
	if query.GroupByHost {
		row.Host, _ = columns[1].(string)
	}
	row.TimeNS, row.Value = at.UnixNano(), value
	return row, true, nil
}
