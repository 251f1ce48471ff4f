// Package influx talks to InfluxDB 1.x and what is compatible with it: line
// protocol to /write, InfluxQL to /query.
package influx

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"time"

	"benchbook/benchload/system"
	"benchbook/benchload/target/lines"
	"benchbook/benchload/target/wire"
)

// Influx is a database of a server.
type Influx struct {
	address  wire.Address
	database string
	timeout  time.Duration
	user     string // the header that names one, or nothing
}

// New creates the target.
func New(address wire.Address, database string, timeout time.Duration) *Influx {
	return &Influx{address: address, database: database, timeout: timeout}
}

// As names the user, as NAME or NAME:PASSWORD; none if it is empty.
func (t *Influx) As(user string) *Influx {
	t.user = lines.Basic(user)
	return t
}

// Name returns the name of this kind of target.
func (t *Influx) Name() string { return "influx" }

// Holds creates the database if it does not exist (which InfluxDB lets one ask for
// again and again) and reports whether it holds measurements.
func (t *Influx) Holds() (bool, error) {
	conn := wire.NewConn(t.address, t.timeout)
	defer conn.Close()
	create := `CREATE DATABASE "` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(t.database) + `"`
	if _, err := t.ask(conn, create); err != nil {
		return false, err
	}
	answer, err := t.ask(conn, "SHOW MEASUREMENTS LIMIT 1")
	if err != nil {
		return false, err
	}
	for _, result := range answer.Results {
		if len(result.Series) > 0 {
			return true, nil
		}
	}
	return false, nil
}

// ask sends an untimed statement.
func (t *Influx) ask(conn *wire.Conn, statement string) (answer, error) {
	form := url.Values{"db": {t.database}, "q": {statement}}.Encode()
	response, err := conn.Do("POST", "/query", t.user+"Content-Type: application/x-www-form-urlencoded\r\n", []byte(form))
	if err != nil {
		return answer{}, lines.ConnectionFailure(err)
	}
	if failure := lines.Check(response.Status, response.Body); failure != nil {
		return answer{}, failure
	}
	var a answer
	if err := json.Unmarshal(response.Body, &a); err != nil {
		return a, &system.Failure{Kind: system.BadAnswer, Status: response.Status,
			Message: fmt.Sprintf("the answer to %q is not JSON: %v", statement, err)}
	}
	return a, nil
}
