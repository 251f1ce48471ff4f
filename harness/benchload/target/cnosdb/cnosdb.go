// Package cnosdb talks to CnosDB 2.x: line protocol to /api/v1/write, SQL to
// /api/v1/sql. Every request names a user, times are nanoseconds.
package cnosdb

import (
	"bytes"
	"net/url"
	"strings"
	"time"

	"benchbook/benchload/system"
	"benchbook/benchload/target"
	"benchbook/benchload/target/lines"
	"benchbook/benchload/target/wire"
)

// DefaultUser has all rights on a new server, without a password.
const DefaultUser = "root:"

// CnosDB is a database of a server.
type CnosDB struct {
	address  wire.Address
	database string
	headers  string // of statements
	user     string // the header that names one
	timeout  time.Duration
}

// New creates the target; the user is DefaultUser if it is empty.
func New(address wire.Address, database, user string, timeout time.Duration) *CnosDB {
	if user == "" {
		user = DefaultUser
	}
	named := lines.Basic(user)
	return &CnosDB{
		address: address, database: database, user: named, timeout: timeout,
		headers: named + "Accept: application/json\r\nContent-Type: text/plain; charset=utf-8\r\n",
	}
}

// Name returns the name of this kind of target.
func (t *CnosDB) Name() string { return "cnosdb" }

// lifetime is how long data is kept: a hundred years. The default is one year, with
// which a server drops older rows on arrival; 2.0.1 has no INF.
const lifetime = "36500d"

// Holds creates the database if it does not exist and reports whether it holds tables.
func (t *CnosDB) Holds() (bool, error) {
	client := lines.NewClient(t.address, t.timeout, "", t.user)
	defer client.Close()
	name := `"` + strings.ReplaceAll(t.database, `"`, `""`) + `"`
	if _, err := t.ask(client, "/api/v1/sql", "CREATE DATABASE IF NOT EXISTS "+name+" WITH TTL '"+lifetime+"'"); err != nil {
		return false, err
	}
	body, err := t.ask(client, t.path("sql"), "SHOW TABLES")
	if err != nil {
		return false, err
	}
	// No table is an empty list, or an empty body.
	return len(bytes.Trim(body, "[] \r\n\t")) > 0, nil
}

// path is that of an endpoint, for the database.
func (t *CnosDB) path(endpoint string) string {
	return "/api/v1/" + endpoint + "?" + url.Values{"db": {t.database}}.Encode()
}

// ask sends an untimed statement.
func (t *CnosDB) ask(client *lines.Client, path, statement string) ([]byte, error) {
	status, answer, err := client.Ask("POST", path, t.headers, []byte(statement))
	if err != nil {
		return nil, err
	}
	if failure := check(status, answer.Body); failure != nil {
		return nil, failure
	}
	return answer.Body, nil
}

// check returns what is wrong with an answer: its status, or a body that is no list.
func check(status int, body []byte) *system.Failure {
	if failure := lines.CheckStatus(status, body); failure != nil {
		return failure
	}
	trimmed := bytes.TrimSpace(body)
	if len(trimmed) == 0 || trimmed[0] == '[' && trimmed[len(trimmed)-1] == ']' {
		return nil
	}
	return &system.Failure{Kind: system.BadAnswer, Status: status, Message: "the answer is not a list of rows: " + lines.Message(body)}
}

// Connect creates a client.
func (t *CnosDB) Connect() (target.Conn, error) {
	return &client{lines.NewClient(t.address, t.timeout, t.path("write"), t.user), t.path("sql"), t.headers}, nil
}

// client is one connection.
type client struct {
	*lines.Client
	path, headers string // of queries
}

// Query sends a query and reads the whole answer.
func (c *client) Query(text []byte) (target.Answer, error) {
	status, answer, err := c.Ask("POST", c.path, c.headers, text)
	if err != nil {
		return answer, err
	}
	if failure := check(status, answer.Body); failure != nil {
		return answer, failure
	}
	return answer, nil
}
