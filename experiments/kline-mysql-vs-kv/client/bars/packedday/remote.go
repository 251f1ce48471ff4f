package packedday

import (
	"strconv"
	"time"

	"benchbook/benchload/system"
	"benchbook/benchload/target/lines"
	"benchbook/benchload/target/wire"
	"benchbook/experiments/kline-mysql-vs-kv/client/bars"
)

// Remote is a packed-day service that is read over HTTP; days are written directly to
// the server behind it.
type Remote struct {
	address wire.Address
	direct  *Direct
	timeout time.Duration
}

// NewRemote creates a store: the service at this address, in front of a server of days.
func NewRemote(address wire.Address, direct *Direct, timeout time.Duration) *Remote {
	return &Remote{address, direct, timeout}
}

// Name returns the name of the kind of system.
func (r *Remote) Name() string { return "packed-day" }

// Prepare refuses a server that holds keys.
func (r *Remote) Prepare() error { return r.direct.Prepare() }

// Connect creates a client.
func (r *Remote) Connect() (bars.Conn, error) {
	writer, err := r.direct.Connect()
	return &remote{place: r, conn: wire.NewConn(r.address, r.timeout), writer: writer}, err
}

// remote is one connection.
type remote struct {
	place  *Remote
	conn   *wire.Conn
	writer bars.Conn
	path   []byte
}

// Write stores days in the server behind the service.
func (c *remote) Write(all []bars.Bar) error { return c.writer.Write(all) }

// Read asks the service. Without decode it checks neither status nor body, like the
// published reader.
func (c *remote) Read(request *bars.Request, decode bool, answer *bars.Answer) error {
	path := strconv.AppendUint(append(c.path[:0], "/bars?stock="...), uint64(request.Stock), 10)
	path = strconv.AppendInt(append(path, "&from="...), request.From, 10)
	c.path = strconv.AppendInt(append(path, "&to="...), request.To, 10)
	got, err := c.conn.Do("GET", string(c.path), "", nil)
	if err != nil {
		kind := system.Connection
		if wire.IsTimeout(err) {
			kind = system.Timeout
		}
		return &system.Failure{Kind: kind, Message: err.Error()}
	}
	answer.Bytes = int64(len(got.Body))
	answer.Rows = answer.Bytes / bars.Size
	if !decode {
		return nil
	}
	if failure := lines.CheckStatus(got.Status, got.Body); failure != nil {
		return failure
	}
	answer.Bars = Take(answer.Bars, got.Body, request)
	answer.Rows = int64(len(answer.Bars))
	return nil
}

// Interrupt ends a waiting operation and all later ones.
func (c *remote) Interrupt() {
	c.conn.Interrupt()
	c.writer.Interrupt()
}

// Close closes the connection.
func (c *remote) Close() {
	c.conn.Close()
	c.writer.Close()
}
