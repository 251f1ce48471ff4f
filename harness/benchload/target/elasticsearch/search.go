package elasticsearch

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"benchbook/benchload/query/spec"
	"benchbook/benchload/target"
	"benchbook/benchload/target/lines"
)

// milliseconds is the unit of its times.
const millisecond = 1_000_000

// maxHosts is how many hosts a query by host can have.
const maxHosts = 100_000

// took is how an answer begins that says how long it took.
var took = []byte(`"took":`)

// object is a member of a search.
type object map[string]any

// Text returns the index, a line end, and the body of the search.
func (t *Elasticsearch) Text(query spec.Query) ([]byte, error) {
	if query.Form != "" {
		return nil, errors.New("the queries of the iot use case are not rendered for elasticsearch")
	}
	start, end := query.Within(millisecond)
	filters := []object{{"range": object{"@timestamp": object{"gte": start, "lt": end, "format": "epoch_millis"}}}}
	if len(query.Hosts) > 0 {
		filters = append(filters, object{"terms": object{"hostname": query.Hosts}})
	}
	function := map[string]string{"max": "max", "mean": "avg"}[query.Aggregate]
	aggregations := object{"bucket": object{
		"date_histogram": object{"field": "@timestamp", "interval": fmt.Sprintf("%dms", query.BucketNS/millisecond), "min_doc_count": 1},
		"aggs":           object{"value": object{function: object{"field": query.Field}}},
	}}
	if query.GroupByHost {
		aggregations = object{"host": object{"terms": object{"field": "hostname", "size": maxHosts}, "aggs": aggregations}}
	}
	body, err := json.Marshal(object{
		"size": 0, "query": object{"bool": object{"filter": filters}}, "aggs": aggregations,
	})
	return append([]byte(query.Table+"\n"), body...), err
}

// Query sends a query and reads the whole answer.
func (c *client) Query(text []byte) (target.Answer, error) {
	index, body, _ := strings.Cut(string(text), "\n")
	status, answer, err := c.Ask("POST", "/"+index+"/_search?request_cache=false", c.plain, []byte(body))
	if err != nil {
		return answer, err
	}
	if failure := lines.CheckStatus(status, answer.Body); failure != nil {
		failure.Message = errorMessage(answer.Body)
		return answer, failure
	}
	lines.Zero(answer.Body, took)
	return answer, nil
}

// found is the body of an answer.
type found struct {
	TimedOut bool `json:"timed_out"`
	Shards   struct {
		Failed int `json:"failed"`
	} `json:"_shards"`
	Aggregations *struct {
		buckets
		Host struct {
			Buckets []struct {
				Key string `json:"key"`
				buckets
			} `json:"buckets"`
		} `json:"host"`
	} `json:"aggregations"`
}

type buckets struct {
	Bucket struct {
		Buckets []struct {
			Key   int64 `json:"key"`
			Value struct {
				Value *float64 `json:"value"`
			} `json:"value"`
		} `json:"buckets"`
	} `json:"bucket"`
}

// Rows reads an answer.
func (t *Elasticsearch) Rows(_ spec.Query, body []byte) ([]target.Row, error) {
	var f found
	if err := json.Unmarshal(body, &f); err != nil {
		return nil, fmt.Errorf("the answer is not one of Elasticsearch: %w", err)
	}
	if f.TimedOut || f.Shards.Failed > 0 || f.Aggregations == nil {
		return nil, fmt.Errorf("the answer is not whole: timed out %v, %d shards failed", f.TimedOut, f.Shards.Failed)
	}
	rows := f.Aggregations.rows(nil, "")
	for _, host := range f.Aggregations.Host.Buckets {
		rows = host.rows(rows, host.Key)
	}
	return rows, nil
}

// rows appends the rows of a histogram.
func (b *buckets) rows(rows []target.Row, host string) []target.Row {
	for _, one := range b.Bucket.Buckets {
		if one.Value.Value != nil {
			rows = append(rows, target.Row{TimeNS: one.Key * millisecond, Host: host, Value: *one.Value.Value})
		}
	}
	return rows
}
