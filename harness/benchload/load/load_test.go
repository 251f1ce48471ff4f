package load_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"benchbook/benchload/drive"
	"benchbook/benchload/event"
	"benchbook/benchload/load"
	"benchbook/benchload/measure"
	"benchbook/benchload/target/influx"
	"benchbook/benchload/target/wire"
)

const (
	rows   = 1000
	batch  = 100
	values = 3 // of each row
)

// valued is a file whose rows have values, which are not counted in it.
type valued struct{ load.Source }

func (v valued) Next() (load.Batch, bool) {
	b, more := v.Source.Next()
	b.Values = values * b.Rows
	return b, more
}

// options are how a load is done.
type options struct {
	drive.Pace
	drive.Rule
	zip bool
}

// outcome is what a load came to.
type outcome struct {
	ended   bool
	summary event.Summary
	errors  []event.Error
}

// loaded loads a file of rows into a server.
func loaded(t *testing.T, handler http.HandlerFunc, change func(*options)) outcome {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return loadedAt(t, server.URL, change)
}

func loadedAt(t *testing.T, url string, change func(*options)) outcome {
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
	opts := options{Pace: drive.Pace{Workers: 2}, Rule: drive.Rule{Retries: 5, Pause: time.Millisecond}}
	change(&opts)
	batches := load.Source(valued{source})
	if opts.zip {
		batches = load.NewPacked(batches, opts.Workers)
	}
	var out bytes.Buffer
	run := measure.NewRun(event.NewWriter(&out), opts.Workers, false, "write")
	var o outcome
	o.summary, o.ended, err = load.Work(batches, influx.New(address, "db", 100*time.Millisecond), opts.Pace, opts.Rule).Run(context.Background(), run)
	if err != nil {
		t.Fatal(err)
	}
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

func asIs(*options) {}

func keepGoing(o *options) { o.KeepGoing = true }

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
		}, func(o *options) { o.zip = zip })
		if received.Load() != rows || o.summary.Rows != rows || o.summary.Operations != rows/batch || o.summary.Errors != 0 {
			t.Errorf("%d rows arrived, summary %+v", received.Load(), o.summary)
		}
		if zip == (o.summary.WireBytes == o.summary.Bytes) {
			t.Errorf("%d bytes went over the wire as %d with gzip %v", o.summary.Bytes, o.summary.WireBytes, zip)
		}
	}
}

func TestACompressedLoadEndsToo(t *testing.T) {
	o := loaded(t, answer(400, `{"error":"no"}`), func(o *options) { o.zip = true })
	if !o.ended || o.summary.Errors > 2 {
		t.Errorf("ended: %v, after %d errors", o.ended, o.summary.Errors)
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
