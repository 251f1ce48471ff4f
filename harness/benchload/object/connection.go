package object

import (
	"strings"
	"time"

	"benchbook/benchload/dataset/blob"
	"benchbook/benchload/system"
	"benchbook/benchload/target/lines"
	"benchbook/benchload/target/wire"
)

// Connection is one kept connection to a store that speaks HTTP.
type Connection struct{ *wire.Conn }

// NewConnection prepares a connection; the first request opens it.
func NewConnection(address wire.Address, timeout time.Duration) *Connection {
	conn := wire.NewConn(address, timeout)
	conn.Most = blob.MaxSize
	return &Connection{conn}
}

// Send sends a request and returns the body of the answer, which is valid until the next
// request. Headers are whole lines.
func (c *Connection) Send(method, path, headers string, body []byte) ([]byte, error) {
	answer, err := c.Do(method, path, headers, body)
	if err != nil {
		return nil, lines.ConnectionFailure(err)
	}
	if answer.Status == 404 {
		return nil, ErrMissing
	}
	if failure := lines.CheckStatus(answer.Status, answer.Body); failure != nil {
		failure.Message = strings.Join(strings.Fields(failure.Message), " ")
		return nil, failure
	}
	return answer.Body, nil
}

var _ system.Conn = (*Connection)(nil)
