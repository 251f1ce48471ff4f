// Package lines sends line protocol over HTTP and reads the answers: what all targets
// with line protocol share.
package lines

import (
	"encoding/base64"
	"strings"
	"time"

	"benchbook/benchload/system"
	"benchbook/benchload/target"
	"benchbook/benchload/target/wire"
)

// Client is one connection. It belongs to one goroutine.
type Client struct {
	conn  *wire.Conn
	path  string // of writes
	plain string // headers of writes
	zip   string
}

// NewClient prepares a connection whose writes go to a path; headers are whole
// lines that every write has beside those about its body.
func NewClient(address wire.Address, timeout time.Duration, path, headers string) *Client {
	const text = "Content-Type: text/plain; charset=utf-8\r\n"
	return &Client{wire.NewConn(address, timeout), path, headers + text, headers + text + "Content-Encoding: gzip\r\n"}
}

// Write sends a batch. Only a 2xx with nothing in its body, or with nothing
// about an error in it, acknowledges the rows.
func (c *Client) Write(batch target.Batch) error {
	headers := c.plain
	if batch.Gzip {
		headers = c.zip
	}
	response, err := c.conn.Do("POST", c.path, headers, batch.Bytes)
	if err != nil {
		failure := ConnectionFailure(err)
		failure.Refused = batch.Rows
		return failure
	}
	if failure := checkWrite(response.Status, response.Body); failure != nil {
		failure.Refused = refused(failure.Message, batch.Rows)
		return failure
	}
	return nil
}

// Ask sends a query and reads the whole answer; the caller checks its body.
func (c *Client) Ask(method, path, headers string, body []byte) (int, target.Answer, error) {
	response, err := c.conn.Do(method, path, headers, body)
	if err != nil {
		return 0, target.Answer{}, ConnectionFailure(err)
	}
	return response.Status, target.Answer{Body: response.Body, Bytes: int64(len(response.Body)), Done: response.Done}, nil
}

// Resent returns how many requests were sent again since it was called last.
func (c *Client) Resent() int64 { return c.conn.Resent() }

// Interrupt ends a waiting operation.
func (c *Client) Interrupt() { c.conn.Interrupt() }

// Close closes the connection.
func (c *Client) Close() { c.conn.Close() }

// ConnectionFailure converts an error of the connection to a failure.
func ConnectionFailure(err error) *system.Failure {
	if wire.IsTimeout(err) {
		return &system.Failure{Kind: system.Timeout, Message: "no complete answer within --timeout"}
	}
	return &system.Failure{Kind: system.Connection, Message: Steady(err.Error())}
}

// Basic is the header that names a user, given as NAME or NAME:PASSWORD; empty
// for no user.
func Basic(user string) string {
	if user == "" {
		return ""
	}
	if !strings.Contains(user, ":") {
		user += ":"
	}
	return "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(user)) + "\r\n"
}
