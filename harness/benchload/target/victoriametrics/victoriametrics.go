// Package victoriametrics loads VictoriaMetrics through its endpoint for line protocol.
// The database becomes the label db of every series. The server acknowledges a batch
// even if it drops lines that it cannot parse, so compare a load with the server's
// counts afterwards.
package victoriametrics

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"benchbook/benchload/system"
	"benchbook/benchload/target"
	"benchbook/benchload/target/lines"
	"benchbook/benchload/target/wire"
)

// VictoriaMetrics is a database of a server.
type VictoriaMetrics struct {
	address        wire.Address
	database, user string
	timeout        time.Duration
}

// New creates the target; the user may be empty.
func New(address wire.Address, database, user string, timeout time.Duration) *VictoriaMetrics {
	return &VictoriaMetrics{address, database, lines.Basic(user), timeout}
}

// Name returns the name of this kind of target.
func (t *VictoriaMetrics) Name() string { return "victoriametrics" }

// The time range of the search for series; zero would mean the last day.
const (
	firstSecond = 1
	lastSecond  = 4_102_444_800 // 2100
)

// Holds reports whether there is a series with the label of the database.
func (t *VictoriaMetrics) Holds() (bool, error) {
	client := lines.NewClient(t.address, t.timeout, "", t.user)
	defer client.Close()
	asked := url.Values{
		"match[]": {"{db=" + strconv.Quote(t.database) + "}"}, "limit": {"1"},
		"start": {strconv.Itoa(firstSecond)}, "end": {strconv.Itoa(lastSecond)},
	}
	status, answer, err := client.Ask("GET", "/api/v1/series?"+asked.Encode(), t.user, nil)
	if err != nil {
		return false, err
	}
	return holds(status, answer.Body)
}

// holds reads the list of series.
func holds(status int, body []byte) (bool, error) {
	if failure := lines.Check(status, body); failure != nil {
		return false, failure
	}
	var found struct {
		Status string            `json:"status"`
		Data   []json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(body, &found); err != nil || found.Status != "success" {
		return false, &system.Failure{Kind: system.BadAnswer, Status: status,
			Message: fmt.Sprintf("the answer about series is not in VictoriaMetrics' form: %s", lines.Message(body))}
	}
	return len(found.Data) > 0, nil
}

// Connect creates a client.
func (t *VictoriaMetrics) Connect() (target.Conn, error) {
	path := "/write?" + url.Values{"db": {t.database}, "precision": {"ns"}}.Encode()
	return &client{lines.NewClient(t.address, t.timeout, path, t.user), t.user}, nil
}

// client is one connection.
type client struct {
	*lines.Client
	headers string // of queries
}
