// Package elasticsearch talks to Elasticsearch 6: bulk requests, one index per table,
// and aggregations. It has one database, so --database is not used.
//
// Index templates determine what a document stores. The driver that starts the server
// installs them before a load: tags must be keywords and floats doubles.
package elasticsearch

import (
	"bytes"
	"encoding/json"
	"errors"
	"time"

	"benchbook/benchload/dataset"
	"benchbook/benchload/format"
	"benchbook/benchload/system"
	"benchbook/benchload/target"
	"benchbook/benchload/target/lines"
	"benchbook/benchload/target/wire"
)

// Elasticsearch is a server.
type Elasticsearch struct {
	address wire.Address
	user    string
	timeout time.Duration
	refresh bool // after each write, so that its rows are found at once
}

// New creates the target; the user may be empty.
func New(address wire.Address, user string, timeout time.Duration) *Elasticsearch {
	return &Elasticsearch{address: address, user: lines.Basic(user), timeout: timeout}
}

// Refreshing makes each write wait until its rows can be searched.
func (t *Elasticsearch) Refreshing() *Elasticsearch {
	t.refresh = true
	return t
}

// Name returns the name of this kind of target.
func (t *Elasticsearch) Name() string {
	if t.refresh {
		return "elasticsearch-refresh"
	}
	return "elasticsearch"
}

// Format returns the body of bulk requests. Times are milliseconds, and the server
// infers the type of a number from its text, so fields must be floats or integers
// throughout.
func (t *Elasticsearch) Format(generator dataset.Generator) (format.Format, error) {
	for _, table := range generator.Tables() {
		for _, field := range table.Fields {
			if field.Kind == dataset.Short {
				return nil, errors.New("the values of " + table.Name + "." + field.Name + " are written with or without decimals, so the server would guess their type")
			}
		}
	}
	return format.NewElasticsearch(generator), nil
}

// Prepare does nothing: the first row of an index creates it.
func (t *Elasticsearch) Prepare() error { return nil }

// Holds reports whether any index that is not the server's own has documents.
func (t *Elasticsearch) Holds() (bool, error) {
	client := lines.NewClient(t.address, t.timeout, "", t.user)
	defer client.Close()
	status, answer, err := client.Ask("GET", "/*,-.*/_count", t.user, nil)
	if err != nil {
		return false, err
	}
	if failure := lines.CheckStatus(status, answer.Body); failure != nil {
		return false, failure
	}
	var found struct {
		Count *int64 `json:"count"`
	}
	if err := json.Unmarshal(answer.Body, &found); err != nil || found.Count == nil {
		return false, &system.Failure{Kind: system.BadAnswer, Status: status,
			Message: "the answer about documents is not in Elasticsearch's form: " + lines.Message(answer.Body)}
	}
	return *found.Count > 0, nil
}

// Connect creates a client.
func (t *Elasticsearch) Connect() (target.Conn, error) {
	// The answer only lists errors: a line for each row would be as long as the rows.
	path := "/benchbook/doc/_bulk?filter_path=errors,error,items.*.error"
	if t.refresh {
		path += "&refresh=true"
	}
	return &client{lines.NewClient(t.address, t.timeout, "", t.user), path, t.user + "Content-Type: application/x-ndjson\r\n", t.user + "Content-Type: application/json\r\n"}, nil
}

// client is one connection.
type client struct {
	*lines.Client
	path, bulk, plain string
}

// Write sends a bulk request.
func (c *client) Write(batch target.Batch) error {
	headers := c.bulk
	if batch.Gzip {
		headers += "Content-Encoding: gzip\r\n"
	}
	status, answer, err := c.Ask("POST", c.path, headers, batch.Bytes)
	if err != nil {
		failure := system.AsFailure(err)
		failure.Refused = batch.Rows
		return failure
	}
	if failure := checkBulk(status, answer.Body, batch.Rows); failure != nil {
		return failure
	}
	return nil
}

// noErrors begins the answer to a bulk request of which every row was accepted.
var noErrors = []byte(`{"errors":false`)

// checkBulk returns what is wrong with the answer to a bulk request.
func checkBulk(status int, body []byte, rows int64) *system.Failure {
	if failure := lines.CheckStatus(status, body); failure != nil {
		failure.Message, failure.Refused = errorMessage(body), rows
		return failure
	}
	if bytes.HasPrefix(body, noErrors) {
		return nil
	}
	var found struct {
		Errors *bool                    `json:"errors"`
		Items  []map[string]itemOutcome `json:"items"`
	}
	if err := json.Unmarshal(body, &found); err != nil || found.Errors == nil {
		return &system.Failure{Kind: system.BadAnswer, Status: status, Refused: rows,
			Message: "the answer to a bulk request is not in Elasticsearch's form: " + lines.Message(body)}
	}
	failure := &system.Failure{Kind: system.Refused, Status: status}
	for _, item := range found.Items {
		for _, one := range item {
			if one.Error == nil {
				continue
			}
			failure.Refused++
			failure.Message = lines.Steady(one.Error.Type)
			if one.Error.Type == rejected {
				failure.Status = 429
			} else if one.Error.Reason != "" {
				failure.Message = lines.Steady(one.Error.Type + ": " + one.Error.Reason)
			}
		}
	}
	if !*found.Errors && failure.Refused == 0 {
		return nil
	}
	// Send a batch again only if no row was accepted; otherwise rows would be duplicated.
	if failure.Status == 429 && failure.Refused == rows {
		failure.Kind = system.Server
	}
	failure.Refused = min(max(failure.Refused, 1), rows)
	return failure
}

// rejected is the error of a row whose write queue was full.
const rejected = "es_rejected_execution_exception"

// itemOutcome is the outcome of one row.
type itemOutcome struct {
	Error *itemError `json:"error"`
}

type itemError struct {
	Type   string `json:"type"`
	Reason string `json:"reason"`
}

// errorMessage returns the server's message about a failure.
func errorMessage(body []byte) string {
	var found struct {
		Error itemError `json:"error"`
	}
	if json.Unmarshal(body, &found) == nil && found.Error.Type != "" {
		return lines.Steady(found.Error.Type + ": " + found.Error.Reason)
	}
	return lines.Message(body)
}
