package influx

import (
	"net/url"

	"benchbook/benchload/target"
	"benchbook/benchload/target/lines"
)

// client is one connection.
type client struct {
	*lines.Client
	headers string // of queries
}

// Connect creates a client.
func (t *Influx) Connect() (target.Conn, error) {
	path := "/write?" + url.Values{"db": {t.database}, "precision": {"ns"}}.Encode()
	return &client{lines.NewClient(t.address, t.timeout, path, t.user), t.user + "Accept: application/json\r\n"}, nil
}

// Query sends a query and reads the whole answer.
func (c *client) Query(text []byte) (target.Answer, error) {
	status, answer, err := c.Ask("GET", string(text), c.headers, nil)
	if err != nil {
		return answer, err
	}
	if failure := lines.Check(status, answer.Body); failure != nil {
		return answer, failure
	}
	return answer, nil
}
