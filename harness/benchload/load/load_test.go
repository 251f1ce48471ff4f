package load_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"benchbook/benchload/event"
	"benchbook/benchload/load"
	"benchbook/benchload/measure"
	"benchbook/benchload/target/influx"
	"benchbook/benchload/target/wire"
)

const (
	rows  = 1000
	batch = 100
)

// outcome is what a load came to.
type outcome struct {
	result  load.Result
	summary event.Summary
	errors  []event.Error
	took    time.Duration
}

// loaded loads a file of rows into a server.
func loaded(t *testing.T, handler http.HandlerFunc, change func(*load.Options, *bool)) outcome {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return loadedAt(t, server.URL, change)
}

func loadedAt(t *testing.T, url string, change func(*load.Options, *bool)) outcome {
	t.Helper()
	var text bytes.Buffer
	for i := range rows {
		fmt.Fprintf(&text, "cpu,hostname=host_%d a=1i %d\n", i%10, i)
	}
	path := filepath.Join(t.TempDir(), "rows")
	if err := os.WriteFile(path, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	source, err := load.NewFile(path, batch)
	if err != nil {
		t.Fatal(err)
	}
	address, err := wire.ParseAddress(url)
	if err != nil {
		t.Fatal(err)
	}
	options := load.Options{Workers: 2, Retries: 5, Pause: time.Millisecond}
	zip := false
	change(&options, &zip)
	var batches load.Source = source
	if zip {
		batches = load.NewPacked(source, options.Workers)
	}
	var out bytes.Buffer
	run := measure.NewRun(event.NewWriter(&out), "write", options.Workers, false)
	run.Start()
	begun := time.Now()
	o := outcome{result: load.Run(context.Background(), batches, influx.New(address, "db", 100*time.Millisecond), run, options)}
	o.took = time.Since(begun)
	o.summary = run.Stop()
	for _, line := range bytes.Split(bytes.TrimSpace(out.Bytes()), []byte("\n")) {
		var e event.Error
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatalf("the event %q is not JSON: %v", line, err)
		}
		if e.Type == "error" {
			o.errors = append(o.errors, e)
		}
	}
	return o
}

// answer answers all writes alike.
func answer(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func asIs(*load.Options, *bool) {}

func keepGoing(o *load.Options, _ *bool) { o.KeepGoing = true }

func TestAllRowsArriveOnce(t *testing.T) {
	for _, zip := range []bool{false, true} {
		var received atomic.Int64
		o := loaded(t, func(w http.ResponseWriter, r *http.Request) {
			body := io.Reader(r.Body)
			if zip {
				unpacked, err := gzip.NewReader(r.Body)
				if err != nil {
					t.Errorf("the body is not gzip: %v", err)
				}
				body = unpacked
			}
			text, _ := io.ReadAll(body)
			received.Add(int64(bytes.Count(text, []byte("\n"))))
			w.WriteHeader(204)
		}, func(_ *load.Options, on *bool) { *on = zip })
		if received.Load() != rows || o.summary.Rows != rows || o.summary.Operations != rows/batch || o.summary.Errors != 0 {
			t.Errorf("%d rows arrived, summary %+v", received.Load(), o.summary)
		}
		if zip == (o.summary.WireBytes == o.summary.Bytes) {
			t.Errorf("%d bytes went over the wire as %d with gzip %v", o.summary.Bytes, o.summary.WireBytes, zip)
		}
	}
}

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
	if !o.result.Ended || o.summary.Errors > 2 {
		t.Errorf("ended: %v, after %d errors", o.result.Ended, o.summary.Errors)
	}
}

func TestACompressedLoadEndsToo(t *testing.T) {
	o := loaded(t, answer(400, `{"error":"no"}`), func(_ *load.Options, zip *bool) { *zip = true })
	if !o.result.Ended || o.summary.Errors > 2 {
		t.Errorf("ended: %v, after %d errors", o.result.Ended, o.summary.Errors)
	}
}

func TestAPartialWriteCountsWhatWasDropped(t *testing.T) {
	o := loaded(t, answer(400, `{"error":"partial write: too old dropped=30"}`), keepGoing)
	if o.summary.RowsRefused != 300 || o.summary.Rows != 700 {
		t.Errorf("the summary is %+v", o.summary)
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

// raw is a server that answers every request on a connection with a text.
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

func TestAServerThatIsBrokenForAWhileIsLoadedWithRetries(t *testing.T) {
	for _, status := range []int{429, 500, 503} {
		var requests atomic.Int64
		o := loaded(t, func(w http.ResponseWriter, r *http.Request) {
			if requests.Add(1) <= 4 {
				answer(status, `{"error":"busy"}`)(w, r)
				return
			}
			answer(204, "")(w, r)
		}, asIs)
		if o.summary.Rows != rows || o.summary.Retries != 4 || o.summary.Errors != 0 {
			t.Errorf("with %d the summary is %+v", status, o.summary)
		}
	}
}

func TestAServerThatStaysBrokenIsGivenUp(t *testing.T) {
	o := loaded(t, answer(500, `{"error":"engine is closed"}`), func(o *load.Options, _ *bool) { o.Retries = 3; o.Workers = 1 })
	if o.summary.Rows != 0 || o.summary.Retries != 3 || o.summary.RowsRefused != batch || !o.result.Ended ||
		len(o.errors) != 1 || o.errors[0].Kind != "server" {
		t.Errorf("the summary is %+v, errors %+v", o.summary, o.errors)
	}
}

func TestAServerThatStallsIsATimeout(t *testing.T) {
	o := loaded(t, func(_ http.ResponseWriter, r *http.Request) {
		// The server notices that the client hung up only after the body.
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}, asIs)
	if o.summary.Rows != 0 || len(o.errors) != 1 || o.errors[0].Kind != "timeout" {
		t.Errorf("the summary is %+v, errors %+v", o.summary, o.errors)
	}
}

func TestAServerThatResetsOrIsGoneEndsTheLoad(t *testing.T) {
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	for name, url := range map[string]string{"resets": raw(t, ""), "is gone": closed.URL} {
		o := loadedAt(t, url, keepGoing)
		if o.summary.Rows != 0 || !o.result.Ended || len(o.errors) == 0 || o.errors[0].Kind != "connection" {
			t.Errorf("a server that %s: summary %+v, errors %+v", name, o.summary, o.errors)
		}
		if o.summary.Errors > 2 || o.summary.Retries > 6 {
			t.Errorf("a server that %s was tried again %d times, with %d errors", name, o.summary.Retries, o.summary.Errors)
		}
	}
}

func TestAnInterruptDoesNotWaitForTheServer(t *testing.T) {
	begun := make(chan struct{}, 10)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		begun <- struct{}{}
		<-r.Context().Done()
	}))
	t.Cleanup(server.Close)
	address, _ := wire.ParseAddress(server.URL)
	path := filepath.Join(t.TempDir(), "rows")
	if err := os.WriteFile(path, bytes.Repeat([]byte("a x=1 1\n"), 100), 0o600); err != nil {
		t.Fatal(err)
	}
	source, err := load.NewFile(path, 10)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		<-begun
		cancel()
	}()
	run := measure.NewRun(event.NewWriter(io.Discard), "write", 1, false)
	run.Start()
	// With the timeout of an hour, only the interrupt can end it.
	result := load.Run(ctx, source, influx.New(address, "db", time.Hour), run, load.Options{Workers: 1, Retries: 3, Pause: time.Hour})
	if summary := run.Stop(); !result.Ended || summary.Rows != 0 || summary.RowsRefused != 10 {
		t.Errorf("ended: %v, the summary is %+v", result.Ended, summary)
	}
}

func TestAnInterruptKeepsWhatTheServerHadSaid(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	var requests atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if requests.Add(1) == 1 {
			answer(500, `{"error":"input/output error"}`)(w, r)
			return
		}
		_, _ = io.Copy(io.Discard, r.Body)
		cancel()
		<-r.Context().Done()
	}))
	t.Cleanup(server.Close)
	address, _ := wire.ParseAddress(server.URL)
	path := filepath.Join(t.TempDir(), "rows")
	if err := os.WriteFile(path, bytes.Repeat([]byte("a x=1 1\n"), 100), 0o600); err != nil {
		t.Fatal(err)
	}
	source, err := load.NewFile(path, 10)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	run := measure.NewRun(event.NewWriter(&out), "write", 1, false)
	run.Start()
	load.Run(ctx, source, influx.New(address, "db", time.Hour), run, load.Options{Workers: 1, Retries: 3, Pause: time.Millisecond})
	run.Stop()
	if !strings.Contains(out.String(), `"kind":"server","status":500,"message":"input/output error"`) || strings.Contains(out.String(), `"kind":"connection"`) {
		t.Errorf("its words are lost: %s", out.String())
	}
}

func TestAMissingLineEndIsARowToo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows")
	if err := os.WriteFile(path, []byte("a x=1 1\nb x=1 1\nc x=1 1"), 0o600); err != nil {
		t.Fatal(err)
	}
	source, err := load.NewFile(path, 2)
	if err != nil {
		t.Fatal(err)
	}
	var seen []string
	for {
		b, more := source.Next()
		if !more {
			break
		}
		seen = append(seen, fmt.Sprint(b.Rows, " ", string(b.Bytes)))
	}
	if got := strings.Join(seen, "|"); got != "2 a x=1 1\nb x=1 1\n|1 c x=1 1" {
		t.Errorf("the batches are %q", got)
	}
}
