package object

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"benchbook/benchload/target"
)

// HTTP is one connection of a client of a store that speaks HTTP.
type HTTP struct {
	client *http.Client
	ctx    context.Context
	cancel func()
	limit  time.Duration
}

// NewHTTP makes one. Connections are kept; environment variables for proxies are not followed.
func NewHTTP(limit time.Duration) *HTTP {
	ctx, cancel := context.WithCancel(context.Background())
	transport := &http.Transport{
		DialContext:         (&net.Dialer{Timeout: limit}).DialContext,
		MaxIdleConnsPerHost: 2, DisableCompression: true, WriteBufferSize: 64 << 10, ReadBufferSize: 64 << 10,
	}
	return &HTTP{&http.Client{Transport: transport}, ctx, cancel, limit}
}

// Do sends a request and reads the whole answer into the memory of into. Prepare, if
// it is not nil, may change the request; it is called once.
func (h *HTTP) Do(method, url string, body, into []byte, prepare func(*http.Request) *http.Request) ([]byte, error) {
	ctx, cancel := context.WithTimeout(h.ctx, h.limit)
	defer cancel()
	var reader io.Reader
	if body != nil {
		reader = bytes.NewReader(body)
	}
	request, err := http.NewRequestWithContext(ctx, method, url, reader)
	if err != nil {
		return nil, err
	}
	if prepare != nil {
		request = prepare(request)
	}
	answer, err := h.client.Do(request)
	if err != nil {
		return nil, h.failure(err)
	}
	defer answer.Body.Close()
	into, err = readAll(answer.Body, into[:0])
	if err != nil {
		return nil, h.failure(err)
	}
	switch {
	case answer.StatusCode < 300:
		return into, nil
	case answer.StatusCode == http.StatusNotFound:
		return nil, ErrMissing
	case answer.StatusCode >= 500 || answer.StatusCode == http.StatusTooManyRequests:
		return nil, &target.Failure{Kind: target.Server, Status: answer.StatusCode, Message: words(into, answer.Status)}
	}
	return nil, &target.Failure{Kind: target.Refused, Status: answer.StatusCode, Message: words(into, answer.Status)}
}

func (h *HTTP) failure(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return &target.Failure{Kind: target.Timeout, Message: "no whole answer within " + h.limit.String()}
	}
	// What the library says begins with the address, which differs from one failure to the next.
	for inner := err; inner != nil; inner = errors.Unwrap(inner) {
		err = inner
	}
	return &target.Failure{Kind: target.Connection, Message: err.Error()}
}

// words are what an answer says.
func words(body []byte, status string) string {
	text := strings.Join(strings.Fields(string(body[:min(len(body), 300)])), " ")
	if text == "" {
		return status
	}
	return text
}

// readAll is io.ReadAll into memory that there is already.
func readAll(from io.Reader, into []byte) ([]byte, error) {
	for {
		if len(into) == cap(into) {
			into = append(into, 0)[:len(into)]
		}
		n, err := from.Read(into[len(into):cap(into)])
		into = into[:len(into)+n]
		if err == io.EOF {
			return into, nil
		}
		if err != nil {
			return into, err
		}
	}
}

// Interrupt ends a waiting request and all later ones.
func (h *HTTP) Interrupt() { h.cancel() }

// Close hangs up.
func (h *HTTP) Close() {
	h.client.CloseIdleConnections()
	h.cancel()
}
