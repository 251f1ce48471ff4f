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

	"benchbook/benchload/drive"
	"benchbook/benchload/event"
	"benchbook/benchload/load"
	"benchbook/benchload/measure"
	"benchbook/benchload/target/influx"
	"benchbook/benchload/target/wire"
)

// letGo loads into a server whose handler ends the load by cancel. With the
// timeout of an hour, only the interrupt can end a request that waits.
func letGo(t *testing.T, pause time.Duration, out io.Writer, handler func(context.CancelFunc) http.HandlerFunc) (ended bool, summary event.Summary) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	server := httptest.NewServer(handler(cancel))
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
	run := measure.NewRun(event.NewWriter(out), 1, false, "write")
	work := load.Work(source, influx.New(address, "db", time.Hour), drive.Pace{Workers: 1}, drive.Rule{Retries: 3, Pause: pause})
	if summary, ended, err = work.Run(ctx, run); err != nil {
		t.Fatal(err)
	}
	return ended, summary
}

// stalls lets the load go once the server has its request, which is not answered.
func stalls(cancel context.CancelFunc) http.HandlerFunc {
	return func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		cancel()
		<-r.Context().Done()
	}
}

func TestAnInterruptDoesNotWaitForTheServer(t *testing.T) {
	ended, summary := letGo(t, time.Hour, io.Discard, stalls)
	if !ended || summary.Rows != 0 || summary.RowsRefused != 10 {
		t.Errorf("ended: %v, the summary is %+v", ended, summary)
	}
}

func TestAnInterruptKeepsWhatTheServerHadSaid(t *testing.T) {
	var out bytes.Buffer
	var requests atomic.Int64
	letGo(t, time.Millisecond, &out, func(cancel context.CancelFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if requests.Add(1) == 1 {
				answer(500, `{"error":"input/output error"}`)(w, r)
				return
			}
			stalls(cancel)(w, r)
		}
	})
	if !strings.Contains(out.String(), `"kind":"server","status":500,"message":"input/output error"`) || strings.Contains(out.String(), `"kind":"connection"`) {
		t.Errorf("its words are lost: %s", out.String())
	}
}
