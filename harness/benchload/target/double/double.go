// Package double provides servers for the tests of targets.
package double

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"benchbook/benchload/target/wire"
)

// Request is a request to a double.
type Request struct {
	Method, Path, Query, User string
	Header                    http.Header
	Body                      string
}

// Server is a server for tests that answers with reply and stores its requests.
type Server struct {
	Address wire.Address

	lock sync.Mutex
	seen []Request
}

// Seen returns the request of this number, from zero.
func (s *Server) Seen(number int) Request {
	s.lock.Lock()
	defer s.lock.Unlock()
	return s.seen[number]
}

// New starts a double that lives as long as the test.
func New(t testing.TB, reply func(Request) (status int, body string)) *Server {
	t.Helper()
	d := &Server{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		user, password, _ := r.BasicAuth()
		asked := Request{r.Method, r.URL.Path, r.URL.RawQuery, user + ":" + password, r.Header, string(body)}
		d.lock.Lock()
		d.seen = append(d.seen, asked)
		d.lock.Unlock()
		status, text := reply(asked)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	}))
	t.Cleanup(server.Close)
	address, err := wire.ParseAddress(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	d.Address = address
	return d
}
