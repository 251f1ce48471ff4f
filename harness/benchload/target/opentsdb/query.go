package opentsdb

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"benchbook/benchload/query/spec"
	"benchbook/benchload/system"
	"benchbook/benchload/target"
	"benchbook/benchload/target/lines"
)

// millisecond is the unit of its times.
const millisecond = 1_000_000

// object is a member of a query.
type object map[string]any

// Text returns the bodies of the requests, one per line. OpenTSDB downsamples whole
// buckets only: it leaves out a cut first one, and adds rows from beyond the end to the
// last. Therefore cut buckets are requested separately.
func (t *OpenTSDB) Text(query spec.Query) ([]byte, error) {
	if query.Form != "" {
		return nil, errors.New("the queries of the iot use case are not rendered for opentsdb")
	}
	if query.Aggregate == "mean" && !query.GroupByHost && len(query.Hosts) != 1 {
		return nil, errors.New("opentsdb has no mean over the rows of several series, only a mean of their means")
	}
	hosts, kind := "*", "wildcard"
	if len(query.Hosts) > 0 {
		hosts, kind = strings.Join(query.Hosts, "|"), "literal_or"
	}
	across, within := "mimmax", "max"
	if query.Aggregate == "mean" {
		across, within = "avg", "avg"
	}
	var bodies [][]byte
	for _, part := range query.Parts() {
		downsample := "0all-" + within
		if part.Bucket < 0 {
			downsample = fmt.Sprintf("%dms-%s", query.BucketNS/millisecond, within)
		}
		start, end := spec.Query{StartNS: part.StartNS, EndNS: part.EndNS}.Within(millisecond)
		if start >= end {
			continue // between two units of time
		}
		body, err := json.Marshal(object{
			"start": start, "end": end - 1, "msResolution": true,
			"queries": []object{{
				"aggregator": across, "metric": query.Table + "." + query.Field, "downsample": downsample,
				"filters": []object{{"type": kind, "tagk": "hostname", "filter": hosts, "groupBy": query.GroupByHost}},
			}},
		})
		if err != nil {
			return nil, err
		}
		bodies = append(bodies, body)
	}
	return bytes.Join(bodies, []byte("\n")), nil
}

// Query sends one request after the other; the answer has one line for each.
func (c *client) Query(text []byte) (target.Answer, error) {
	var whole target.Answer
	for _, body := range bytes.Split(text, []byte("\n")) {
		status, answer, err := c.Ask("POST", "/api/query", c.headers, body)
		if err != nil {
			return answer, err
		}
		if failure := checkQuery(status, answer.Body); failure != nil {
			return answer, failure
		}
		whole.Body = append(append(whole.Body, answer.Body...), '\n')
		whole.Done = answer.Done
	}
	whole.Bytes = int64(len(whole.Body))
	return whole, nil
}

// checkQuery returns what is wrong with an answer.
func checkQuery(status int, body []byte) *system.Failure {
	failure := lines.CheckStatus(status, body)
	if failure != nil {
		var reply struct {
			Error struct {
				Message string `json:"message"`
			} `json:"error"`
		}
		if json.Unmarshal(body, &reply) == nil && reply.Error.Message != "" {
			failure.Message = lines.Steady(reply.Error.Message)
		}
	}
	return failure
}

// series is one of an answer.
type series struct {
	Tags map[string]string   `json:"tags"`
	DPS  map[string]*float64 `json:"dps"`
}

// Rows reads the answers to the parts of a query.
func (t *OpenTSDB) Rows(query spec.Query, body []byte) ([]target.Row, error) {
	var rows []target.Row
	answers := bytes.Split(bytes.TrimSpace(body), []byte("\n"))
	for _, part := range query.Parts() {
		if start, end := (spec.Query{StartNS: part.StartNS, EndNS: part.EndNS}).Within(millisecond); start >= end {
			continue
		}
		if len(answers) == 0 {
			return nil, errors.New("the answer has fewer parts than the query")
		}
		var found []series
		if err := json.Unmarshal(answers[0], &found); err != nil {
			return nil, fmt.Errorf("the answer is not in OpenTSDB's form: %w", err)
		}
		answers = answers[1:]
		for _, one := range found {
			made, err := one.rows(query, part)
			if err != nil {
				return nil, err
			}
			rows = append(rows, made...)
		}
	}
	return rows, nil
}

// rows are those of one series.
func (s *series) rows(query spec.Query, part spec.Part) ([]target.Row, error) {
	var rows []target.Row
	for text, value := range s.DPS {
		ms, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("a row of the answer has the time %q", text)
		}
		if value == nil {
			continue
		}
		row := target.Row{TimeNS: ms * millisecond, Value: *value}
		if part.Bucket >= 0 {
			row.TimeNS = part.Bucket
		}
		if query.GroupByHost {
			row.Host = s.Tags["hostname"]
		}
		rows = append(rows, row)
	}
	return rows, nil
}
