package victoriametrics

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"benchbook/benchload/query/spec"
	"benchbook/benchload/target"
	"benchbook/benchload/target/lines"
)

// millisecond is the unit of its times.
const millisecond = 1_000_000

// took is what precedes the time that an answer took.
var took = []byte(`"executionTimeMsec":`)

// Text returns the paths of the requests, one per line. A window of MetricsQL reaches
// back from a moment, inclusive, to another, exclusive. Therefore buckets are evaluated
// at their last millisecond, and cut ones in a separate request.
func (t *VictoriaMetrics) Text(query spec.Query) ([]byte, error) {
	if query.Form != "" {
		return nil, errors.New("the queries of the iot use case are not rendered for victoriametrics")
	}
	if query.Aggregate == "mean" && !query.GroupByHost && len(query.Hosts) != 1 {
		return nil, errors.New("victoriametrics has no mean over the rows of several series, only a mean of their means")
	}
	labels := "db=" + strconv.Quote(t.database)
	if len(query.Hosts) > 0 {
		labels += ",hostname=~" + strconv.Quote(strings.Join(query.Hosts, "|"))
	}
	function := map[string]string{"max": "max", "mean": "avg"}[query.Aggregate]
	by := ""
	if query.GroupByHost {
		by = " by (hostname)"
	}
	var paths []string
	for _, part := range query.Parts() {
		start, end := spec.Query{StartNS: part.StartNS, EndNS: part.EndNS}.Within(millisecond)
		if start >= end {
			continue // between two units of time
		}
		window := end - start
		if part.Bucket < 0 {
			window = query.BucketNS / millisecond
		}
		// The last value must not be looked up before the window, so it has a separate name.
		values := url.Values{"nocache": {"1"}, "query": {fmt.Sprintf("%s%s(%s_over_time(%s_%s{%s}[%dms]))",
			function, by, function, query.Table, query.Field, labels, window)}}
		if part.Bucket < 0 {
			values.Set("start", seconds(start+window-1))
			values.Set("end", seconds(end-1))
			values.Set("step", fmt.Sprintf("%dms", window))
			paths = append(paths, "/api/v1/query_range?"+values.Encode())
		} else {
			values.Set("time", seconds(end-1))
			paths = append(paths, "/api/v1/query?"+values.Encode())
		}
	}
	return []byte(strings.Join(paths, "\n")), nil
}

// seconds is a time as the server reads it.
func seconds(ms int64) string { return fmt.Sprintf("%d.%03d", ms/1000, ms%1000) }

// Query sends one request after the other; the answer has one line for each.
func (c *client) Query(text []byte) (target.Answer, error) {
	var whole target.Answer
	for path := range strings.SplitSeq(string(text), "\n") {
		status, answer, err := c.Ask("GET", path, c.headers, nil)
		if err != nil {
			return answer, err
		}
		if failure := lines.Check(status, answer.Body); failure != nil {
			return answer, failure
		}
		lines.Zero(answer.Body, took)
		whole.Body = append(append(whole.Body, bytes.TrimSpace(answer.Body)...), '\n')
		whole.Done = answer.Done
	}
	whole.Bytes = int64(len(whole.Body))
	return whole, nil
}

// Rows reads the answers to the parts of a query.
func (t *VictoriaMetrics) Rows(query spec.Query, body []byte) ([]target.Row, error) {
	var rows []target.Row
	answers := bytes.Split(bytes.TrimSpace(body), []byte("\n"))
	for _, part := range query.Parts() {
		if start, end := (spec.Query{StartNS: part.StartNS, EndNS: part.EndNS}).Within(millisecond); start >= end {
			continue
		}
		if len(answers) == 0 {
			return nil, errors.New("the answer has fewer parts than the query")
		}
		made, err := readPart(query, part, answers[0])
		if err != nil {
			return nil, err
		}
		rows, answers = append(rows, made...), answers[1:]
	}
	return rows, nil
}

// readPart reads the answer to one part.
func readPart(query spec.Query, part spec.Part, body []byte) ([]target.Row, error) {
	var found struct {
		Status string `json:"status"`
		Data   struct {
			Result []struct {
				Metric map[string]string    `json:"metric"`
				Value  *[2]json.RawMessage  `json:"value"`
				Values [][2]json.RawMessage `json:"values"`
			} `json:"result"`
		} `json:"data"`
	}
	if err := json.Unmarshal(body, &found); err != nil || found.Status != "success" {
		return nil, fmt.Errorf("the answer is not in VictoriaMetrics' form: %.200s", body)
	}
	var rows []target.Row
	for _, series := range found.Data.Result {
		if series.Value != nil {
			series.Values = append(series.Values, *series.Value)
		}
		for _, pair := range series.Values {
			row, err := readPair(pair)
			if err != nil {
				return nil, err
			}
			row.TimeNS = row.TimeNS / query.BucketNS * query.BucketNS
			if part.Bucket >= 0 {
				row.TimeNS = part.Bucket
			}
			row.Host = series.Metric["hostname"]
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// readPair reads a time in seconds and a value, which is text.
func readPair(pair [2]json.RawMessage) (row target.Row, err error) {
	at, err := strconv.ParseFloat(string(pair[0]), 64)
	if err != nil {
		return row, fmt.Errorf("a row of the answer has the time %s", pair[0])
	}
	row.TimeNS = int64(at*1000+0.5) * millisecond
	row.Value, err = strconv.ParseFloat(strings.Trim(string(pair[1]), `"`), 64)
	if err != nil {
		return row, fmt.Errorf("a row of the answer has the value %s", pair[1])
	}
	return row, nil
}
