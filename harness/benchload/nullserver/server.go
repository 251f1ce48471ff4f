// Package nullserver is a server that answers like InfluxDB and keeps nothing:
// what a client reaches against it is the client's own limit.
package nullserver

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
)

// fixedAnswer is what a query gets: one bucket of one series.
const fixedAnswer = `{"results":[{"statement_id":0,"series":[{"name":"cpu","columns":["time","max"],"values":[[1451606400000000000,50.5]]}]}]}` + "\n"

// emptyAnswer is what a statement about the database gets.
const emptyAnswer = `{"results":[{"statement_id":0}]}` + "\n"

// Counts is what the server has seen.
type Counts struct {
	Writes  int64 `json:"writes"`
	Rows    int64 `json:"rows"`
	Bytes   int64 `json:"bytes"` // of bodies, after decompression
	Queries int64 `json:"queries"`
}

// Server counts what it is sent.
type Server struct {
	writes, rows, bytes, queries atomic.Int64
	buffers                      sync.Pool
	http                         http.Server
}

// New makes a server.
func New() *Server {
	s := &Server{buffers: sync.Pool{New: func() any { return new([64 << 10]byte) }}}
	s.http.Handler = http.HandlerFunc(s.serve)
	return s
}

// Handler answers requests, for tests that bring their own listener.
func (s *Server) Handler() http.Handler { return s.http.Handler }

// Serve answers until Close.
func (s *Server) Serve(listener net.Listener) error { return s.http.Serve(listener) }

// Close stops the server.
func (s *Server) Close() error { return s.http.Close() }

// Counts is what the server has seen so far.
func (s *Server) Counts() Counts {
	return Counts{s.writes.Load(), s.rows.Load(), s.bytes.Load(), s.queries.Load()}
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Influxdb-Version", "null")
	switch r.URL.Path {
	case "/write":
		s.write(w, r)
	case "/query":
		s.query(w, r)
	case "/ping":
		w.WriteHeader(http.StatusNoContent)
	case "/count":
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(s.Counts())
	default:
		http.NotFound(w, r)
	}
}

// write counts the lines of a body.
func (s *Server) write(w http.ResponseWriter, r *http.Request) {
	body := io.Reader(r.Body)
	if r.Header.Get("Content-Encoding") == "gzip" {
		unpacked, err := gzip.NewReader(r.Body)
		if err != nil {
			refuse(w, "the body is not gzip: "+err.Error())
			return
		}
		body = unpacked
	}
	buffer := s.buffers.Get().(*[64 << 10]byte)
	defer s.buffers.Put(buffer)
	rows, size, last := int64(0), int64(0), byte('\n')
	for {
		n, err := body.Read(buffer[:])
		if n > 0 {
			rows += int64(bytes.Count(buffer[:n], []byte{'\n'}))
			size += int64(n)
			last = buffer[n-1]
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			refuse(w, "the body could not be read: "+err.Error())
			return
		}
	}
	if last != '\n' {
		rows++
	}
	s.writes.Add(1)
	s.rows.Add(rows)
	s.bytes.Add(size)
	w.WriteHeader(http.StatusNoContent)
}

// query answers statements about the database, and any other with one bucket.
func (s *Server) query(w http.ResponseWriter, r *http.Request) {
	s.queries.Add(1)
	statement := strings.ToUpper(strings.TrimSpace(r.FormValue("q")))
	w.Header().Set("Content-Type", "application/json")
	if strings.HasPrefix(statement, "SHOW") || strings.HasPrefix(statement, "CREATE") || strings.HasPrefix(statement, "DROP") {
		_, _ = io.WriteString(w, emptyAnswer)
		return
	}
	_, _ = io.WriteString(w, fixedAnswer)
}

// refuse answers as InfluxDB does to a wrong request.
func refuse(w http.ResponseWriter, words string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadRequest)
	_ = json.NewEncoder(w).Encode(map[string]string{"error": words})
}
