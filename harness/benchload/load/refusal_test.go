package load_test

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestAServerThatRefusesIsNotLoaded(t *testing.T) {
	o := loaded(t, answer(400, `{"error":"field type conflict"}`), keepGoing)
	if o.summary.Rows != 0 || o.summary.RowsRefused != rows || o.summary.Errors != rows/batch || o.summary.Retries != 0 {
		t.Errorf("the summary is %+v", o.summary)
	}
	if len(o.errors) != 1 || o.errors[0].Kind != "refused" || o.errors[0].Status != 400 ||
		o.errors[0].Message != "field type conflict" || o.errors[0].Rows != rows || o.errors[0].Operations != rows/batch {
		t.Errorf("the errors are %+v", o.errors)
	}
}

func TestWithoutKeepGoingTheFirstRefusalEndsTheLoad(t *testing.T) {
	o := loaded(t, answer(400, `{"error":"no"}`), asIs)
	if !o.ended || o.summary.Errors > 2 {
		t.Errorf("ended: %v, after %d errors", o.ended, o.summary.Errors)
	}
}

func TestAPartialWriteCountsWhatWasDropped(t *testing.T) {
	o := loaded(t, answer(400, `{"error":"partial write: too old dropped=30"}`), keepGoing)
	if o.summary.RowsRefused != 300 || o.summary.Rows != 700 {
		t.Errorf("the summary is %+v", o.summary)
	}
	whole := loaded(t, answer(204, ""), asIs)
	// Of a batch, values and bytes count like its rows; each of ten batches rounds its bytes down.
	if o.summary.Values != 700*values || whole.summary.Bytes*7/10-o.summary.Bytes > rows/batch || o.summary.Bytes > whole.summary.Bytes*7/10 {
		t.Errorf("the summary is %+v, that of all rows %+v", o.summary, whole.summary)
	}
}

func TestAnErrorInASuccessIsNotLoaded(t *testing.T) {
	for _, status := range []int{200, 202} {
		o := loaded(t, answer(status, `{"error":"disk full"}`), keepGoing)
		if o.summary.Rows != 0 || len(o.errors) != 1 || o.errors[0].Kind != "answer" || o.errors[0].Message != "disk full" {
			t.Errorf("with %d the summary is %+v, errors %+v", status, o.summary, o.errors)
		}
	}
}

// raw is a server that answers every request with a text, byte by byte, and hangs up.
func raw(t *testing.T, text string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = io.WriteString(conn, text)
		if tcp, ok := conn.(*net.TCPConn); ok && text == "" {
			_ = tcp.SetLinger(0) // a reset, not an orderly end
		}
		_ = conn.Close()
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func TestA204WithAnErrorInItsBodyIsNotLoaded(t *testing.T) {
	url := raw(t, "HTTP/1.1 204 No Content\r\nContent-Length: 21\r\n\r\n{\"error\":\"not today\"}")
	o := loadedAt(t, url, keepGoing)
	if o.summary.Rows != 0 || o.summary.RowsRefused != rows || len(o.errors) != 1 || o.errors[0].Message != "not today" {
		t.Errorf("the summary is %+v, errors %+v", o.summary, o.errors)
	}
}
