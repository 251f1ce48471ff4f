// Package questdb loads QuestDB through its endpoint for line protocol over HTTP, which
// answers when rows are committed. It has one database, so --database is not used: the
// tables are the server's.
package questdb

import (
	"encoding/json"
	"net/url"
	"time"

	"benchbook/benchload/system"
	"benchbook/benchload/target"
	"benchbook/benchload/target/lines"
	"benchbook/benchload/target/wire"
)

// QuestDB is a server.
type QuestDB struct {
	address wire.Address
	user    string
	timeout time.Duration
}

// New creates the target; the user may be empty.
func New(address wire.Address, user string, timeout time.Duration) *QuestDB {
	return &QuestDB{address, lines.Basic(user), timeout}
}

// Name returns the name of this kind of target.
func (t *QuestDB) Name() string { return "questdb" }

// ownTables counts the tables except the server's own.
const ownTables = "SELECT count() FROM tables() WHERE table_name NOT LIKE 'sys.%' AND table_name NOT LIKE 'telemetry%'"

// Holds reports whether there is a table.
func (t *QuestDB) Holds() (bool, error) {
	client := lines.NewClient(t.address, t.timeout, "", t.user)
	defer client.Close()
	status, answer, err := client.Ask("GET", "/exec?"+url.Values{"query": {ownTables}}.Encode(), t.user, nil)
	if err != nil {
		return false, err
	}
	return holds(status, answer.Body)
}

// holds reads the count of tables.
func holds(status int, body []byte) (bool, error) {
	if failure := lines.Check(status, body); failure != nil {
		return false, failure
	}
	var found struct {
		Dataset [][]int64 `json:"dataset"`
	}
	if err := json.Unmarshal(body, &found); err != nil || len(found.Dataset) != 1 || len(found.Dataset[0]) != 1 {
		return false, &system.Failure{Kind: system.BadAnswer, Status: status,
			Message: "the answer about tables is not in QuestDB's form: " + lines.Message(body)}
	}
	return found.Dataset[0][0] > 0, nil
}

// Connect creates a client.
func (t *QuestDB) Connect() (target.Conn, error) {
	return &client{lines.NewClient(t.address, t.timeout, "/write?precision=n", t.user), t.user}, nil
}

// client is one connection.
type client struct {
	*lines.Client
	headers string // of queries
}
