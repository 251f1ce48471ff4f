package load_test

import (
	"bytes"
	"context"
	"io"
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
