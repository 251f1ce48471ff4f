package nullserver

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"
)

// session is one connection.
type session struct {
	server   *Server
	raw      net.Conn
	reader   *bufio.Reader
	out      []byte
	buffer   [64 << 10]byte
	unpacker *gzip.Reader
	held     time.Time // since when the present answer is held back
}

func newSession(server *Server, raw net.Conn) *session {
	return &session{server: server, raw: raw, reader: bufio.NewReaderSize(raw, 64<<10)}
}

// request is the head of a request.
type request struct {
	method, path, query string
	length              int64
	chunked, zipped     bool
	close, expects      bool
}

// serve answers requests until the client hangs up or asks for it.
func (s *session) serve() {
	for {
		r, err := s.readHead()
		if err != nil {
			if !errors.Is(err, io.EOF) && !errors.Is(err, net.ErrClosed) {
				s.answer("400 Bad Request", refusal(err.Error()), true)
			}
			return
		}
		if r.expects {
			if _, err := io.WriteString(s.raw, "HTTP/1.1 100 Continue\r\n\r\n"); err != nil {
				return
			}
		}
		var body io.Reader
		switch {
		case r.chunked:
			body = &chunks{reader: s.reader}
		default:
			body = io.LimitReader(s.reader, r.length)
		}
		status, text := s.handle(r, body)
		// Unread data would look like the next request.
		if _, err := io.Copy(io.Discard, body); err != nil {
			return
		}
		sent := s.answer(status, text, r.close)
		s.server.Delay.answered(s.held)
		s.held = time.Time{}
		if !sent || r.close {
			return
		}
	}
}

// handle gives the status and the body of an answer.
func (s *session) handle(r request, body io.Reader) (status, text string) {
	switch r.path {
	case "/write":
		if err := s.write(r, body); err != nil {
			return "400 Bad Request", refusal(err.Error())
		}
		s.held = s.server.Delay.wait()
		return "204 No Content", ""
	case "/query":
		s.server.queries.Add(1)
		form := r.query
		if r.method == "POST" {
			posted, err := io.ReadAll(io.LimitReader(body, 1<<20))
			if err != nil {
				return "400 Bad Request", refusal(err.Error())
			}
			form += "&" + string(posted)
		}
		s.held = s.server.Delay.wait()
		return "200 OK", answerTo(statement(form))
	case "/ping":
		return "204 No Content", ""
	case "/held":
		return "200 OK", `{"encoded":"` + s.server.Delay.Held() + "\"}\n"
	case "/count":
		return "200 OK", s.server.counts()
	}
	return "404 Not Found", refusal("there is no " + r.path)
}

// refusal is the body of the answer to an invalid request, in InfluxDB's form.
func refusal(message string) string {
	text, _ := json.Marshal(map[string]string{"error": message}) // a string always can be encoded
	return string(text) + "\n"
}

// answer sends an answer; false if the client is gone.
func (s *session) answer(status, text string, last bool) bool {
	out := append(s.out[:0], "HTTP/1.1 "...)
	out = append(out, status...)
	out = append(out, "\r\nX-Influxdb-Version: null\r\n"...)
	if text != "" {
		out = append(out, "Content-Type: application/json\r\nContent-Length: "...)
		out = strconv.AppendInt(out, int64(len(text)), 10)
		out = append(out, "\r\n"...)
	}
	if last {
		out = append(out, "Connection: close\r\n"...)
	}
	out = append(out, "\r\n"...)
	s.out = append(out, text...)
	_, err := s.raw.Write(s.out)
	return err == nil
}

// readHead reads a request up to its body.
func (s *session) readHead() (request, error) {
	line, err := s.reader.ReadSlice('\n')
	if err != nil {
		return request{}, err
	}
	method, rest, _ := strings.Cut(strings.TrimRight(string(line), "\r\n"), " ")
	target, version, ok := strings.Cut(rest, " ")
	if !ok || !strings.HasPrefix(version, "HTTP/1.") {
		return request{}, fmt.Errorf("the request begins with %q, which is not HTTP/1", line[:min(len(line), 80)])
	}
	r := request{method: method, close: version == "HTTP/1.0"}
	r.path, r.query, _ = strings.Cut(target, "?")
	for {
		line, err := s.reader.ReadSlice('\n')
		if err != nil {
			return r, err
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			return r, nil
		}
		name, value, ok := bytes.Cut(line, []byte(":"))
		if !ok {
			return r, fmt.Errorf("the header %q has no colon", line[:min(len(line), 80)])
		}
		if err := r.header(name, bytes.TrimSpace(value)); err != nil {
			return r, err
		}
	}
}

// header takes what matters from one header.
func (r *request) header(name, value []byte) error {
	is := func(text string) bool { return bytes.EqualFold(value, []byte(text)) }
	switch {
	case bytes.EqualFold(name, []byte("Content-Length")):
		length, err := strconv.ParseInt(string(value), 10, 64)
		if err != nil || length < 0 {
			return fmt.Errorf("the Content-Length is %q", value)
		}
		r.length = length
	case bytes.EqualFold(name, []byte("Transfer-Encoding")):
		r.chunked = is("chunked")
	case bytes.EqualFold(name, []byte("Content-Encoding")):
		r.zipped = is("gzip")
	case bytes.EqualFold(name, []byte("Connection")):
		r.close = is("close") || r.close && !is("keep-alive")
	case bytes.EqualFold(name, []byte("Expect")):
		r.expects = is("100-continue")
	}
	return nil
}
