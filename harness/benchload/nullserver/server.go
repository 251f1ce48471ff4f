// Package nullserver is a server that answers like InfluxDB and discards all data. A
// client's rate against it is the client's own limit. It reads HTTP/1.1 itself, so that
// it costs little next to the client on the same machine.
package nullserver

import (
	"encoding/json"
	"errors"
	"net"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
)

// fixedAnswer is what a query gets: one bucket of one series.
const fixedAnswer = `{"results":[{"statement_id":0,"series":[{"name":"cpu","columns":["time","max"],"values":[["2016-01-01T00:00:00Z",50.5]]}]}]}` + "\n"

// emptyAnswer is what a statement about the database gets.
const emptyAnswer = `{"results":[{"statement_id":0}]}` + "\n"

// databasesAnswer is what SHOW DATABASES gets: clients expect the server's own.
const databasesAnswer = `{"results":[{"statement_id":0,"series":[{"name":"databases","columns":["name"],"values":[["_internal"]]}]}]}` + "\n"

// Counts is what the server has received.
type Counts struct {
	Writes  int64 `json:"writes"`
	Rows    int64 `json:"rows"`
	Bytes   int64 `json:"bytes"` // of bodies, after decompression if they are decompressed
	Queries int64 `json:"queries"`
}

// Server counts what it is sent.
type Server struct {
	// Sealed leaves compressed bodies as they are: it counts only their requests and
	// bytes, and costs nearly nothing next to the client. Set it before Serve.
	Sealed bool

	// Delay holds the answers to writes and queries back. Set it before Serve.
	Delay Delay

	writes, rows, bytes, queries atomic.Int64

	lock     sync.Mutex
	listener net.Listener
	open     map[net.Conn]bool
	closed   bool
}

// New creates a server.
func New() *Server { return &Server{open: map[net.Conn]bool{}} }

// ErrClosed is how Serve ends after Close.
var ErrClosed = errors.New("the server was closed")

// Serve answers until Close.
func (s *Server) Serve(listener net.Listener) error {
	s.lock.Lock()
	s.listener = listener
	closed := s.closed
	s.lock.Unlock()
	if closed {
		_ = listener.Close()
	}
	for {
		raw, err := listener.Accept()
		if err != nil {
			s.lock.Lock()
			defer s.lock.Unlock()
			if s.closed {
				return ErrClosed
			}
			return err
		}
		if s.keep(raw) {
			go func() {
				defer s.forget(raw)
				newSession(s, raw).serve()
			}()
		}
	}
}

// keep remembers an open connection; false if the server was closed.
func (s *Server) keep(raw net.Conn) bool {
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.closed {
		_ = raw.Close()
		return false
	}
	s.open[raw] = true
	return true
}

// forget closes a connection.
func (s *Server) forget(raw net.Conn) {
	_ = raw.Close()
	s.lock.Lock()
	delete(s.open, raw)
	s.lock.Unlock()
}

// Close stops the server and hangs up.
func (s *Server) Close() {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.closed = true
	if s.listener != nil {
		_ = s.listener.Close()
	}
	for raw := range s.open {
		_ = raw.Close()
	}
}

// Counts returns what the server has received so far.
func (s *Server) Counts() Counts {
	return Counts{s.writes.Load(), s.rows.Load(), s.bytes.Load(), s.queries.Load()}
}

// counts is the answer to /count.
func (s *Server) counts() string {
	text, _ := json.Marshal(s.Counts()) // four numbers always can be
	return string(text) + "\n"
}

// statement is the parameter q of a query string or a form, in capitals.
func statement(form string) string {
	values, _ := url.ParseQuery(form) // what cannot be read is left out
	return strings.ToUpper(strings.TrimSpace(values.Get("q")))
}

// answerTo answers statements about the database, and any other with one bucket.
func answerTo(statement string) string {
	if strings.HasPrefix(statement, "SHOW DATABASES") {
		return databasesAnswer
	}
	for _, word := range []string{"SHOW", "CREATE", "DROP"} {
		if strings.HasPrefix(statement, word) {
			return emptyAnswer
		}
	}
	return fixedAnswer
}
