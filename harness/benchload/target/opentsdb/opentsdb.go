// Package opentsdb talks to OpenTSDB 2 over HTTP: points to /api/put, queries
// to /api/query. It has one database, so --database is not used.
package opentsdb

import (
	"bytes"
	"encoding/json"
	"time"

	"benchbook/benchload/dataset"
	"benchbook/benchload/format"
	"benchbook/benchload/system"
	"benchbook/benchload/target"
	"benchbook/benchload/target/lines"
	"benchbook/benchload/target/wire"
)

// OpenTSDB is a server.
type OpenTSDB struct {
	address wire.Address
	user    string
	timeout time.Duration
}

// New creates the target; the user may be empty.
func New(address wire.Address, user string, timeout time.Duration) *OpenTSDB {
	return &OpenTSDB{address, lines.Basic(user), timeout}
}

// Name returns the name of this kind of target.
func (t *OpenTSDB) Name() string { return "opentsdb" }

// Format returns a list of points.
func (t *OpenTSDB) Format(generator dataset.Generator) (format.Format, error) {
	return list{format.NewOpenTSDB(generator)}, nil
}

// Prepare does nothing: the first point of a metric creates it, if the server is
// configured so (tsd.core.auto_create_metrics).
func (t *OpenTSDB) Prepare() error { return nil }

// Holds reports whether the server knows a metric.
func (t *OpenTSDB) Holds() (bool, error) {
	client := lines.NewClient(t.address, t.timeout, "", t.user)
	defer client.Close()
	status, answer, err := client.Ask("GET", "/api/suggest?type=metrics&max=1", t.user, nil)
	if err != nil {
		return false, err
	}
	if failure := lines.CheckStatus(status, answer.Body); failure != nil {
		return false, failure
	}
	var metrics []string
	if err := json.Unmarshal(answer.Body, &metrics); err != nil {
		return false, &system.Failure{Kind: system.BadAnswer, Status: status,
			Message: "the answer about metrics is not in OpenTSDB's form: " + lines.Message(answer.Body)}
	}
	return len(metrics) > 0, nil
}

// list joins the points of a batch, which come one per line, into one JSON array.
type list struct{ format.Format }

// Renderer creates a renderer for one goroutine.
func (l list) Renderer() format.Renderer { return listed{l.Format.Renderer()} }

type listed struct{ format.Renderer }

// Append appends points, each behind a bracket or a comma.
func (l listed) Append(text []byte, block *dataset.Block, from, end int64) []byte {
	if len(text) == 0 {
		text = append(text, '[')
	}
	at := len(text)
	text = l.Renderer.Append(text, block, from, end)
	for {
		next := bytes.IndexByte(text[at:], '\n')
		if next < 0 {
			return text
		}
		text[at+next] = ','
		at += next + 1
	}
}

// Finish closes the array.
func (l listed) Finish(text []byte) []byte {
	if last := len(text) - 1; last > 0 {
		text[last] = ']'
	}
	return text
}

// Connect creates a client.
func (t *OpenTSDB) Connect() (target.Conn, error) {
	return &client{lines.NewClient(t.address, t.timeout, "", t.user), t.user + "Content-Type: application/json\r\n"}, nil
}

// client is one connection.
type client struct {
	*lines.Client
	headers string
}

// Write sends a batch of points.
func (c *client) Write(batch target.Batch) error {
	headers := c.headers
	if batch.Gzip {
		headers += "Content-Encoding: gzip\r\n"
	}
	status, answer, err := c.Ask("POST", "/api/put?summary", headers, batch.Bytes)
	if err != nil {
		failure := system.AsFailure(err)
		failure.Refused = batch.Rows
		return failure
	}
	if failure := checkPut(status, answer.Body); failure != nil {
		failure.Refused = batch.Rows
		return failure
	}
	return nil
}

// checkPut returns what is wrong with the answer to a batch. The server counts points,
// not rows, so one lost point counts as the whole batch.
func checkPut(status int, body []byte) *system.Failure {
	var summary struct {
		Success *int64 `json:"success"`
		Failed  *int64 `json:"failed"`
		Error   struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	parsed := json.Unmarshal(body, &summary)
	if failure := lines.CheckStatus(status, body); failure != nil {
		if summary.Error.Message != "" {
			failure.Message = lines.Steady(summary.Error.Message)
		}
		return failure
	}
	if parsed != nil || summary.Success == nil || summary.Failed == nil || *summary.Failed != 0 {
		return &system.Failure{Kind: system.BadAnswer, Status: status, Message: "points were refused: " + lines.Message(body)}
	}
	return nil
}
