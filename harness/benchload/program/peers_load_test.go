package program

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// The tests of this file and of the peers_ files beside it are what the load tools of the published benchmarks get
// wrong, each seen in them: here it has to be right.

// influxLike is a server whose writes are answered by a function.
func influxLike(t *testing.T, write http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/write" {
			write(w, r)
			return
		}
		_, _ = io.WriteString(w, `{"results":[{"statement_id":0}]}`)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// refusing answers every write alike.
func refusing(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// loadInto loads the small dataset and gives the exit code and the summary.
func loadInto(t *testing.T, url, extra string) (code int, lines []map[string]any, summary map[string]any) {
	t.Helper()
	code, lines, _, notes := run(t, words("load DATASET --batch-rows 1000 --target influx --url "+url+" "+extra)...)
	if len(lines) == 0 {
		t.Fatalf("there are no events: %s", notes)
	}
	return code, lines, lines[len(lines)-1]
}

const smallRows = 8 * 540 * 9

func TestAFailedWriteIsNeverCountedAsLoaded(t *testing.T) {
	for _, extra := range []string{"", "--keep-going", "--gzip --keep-going --workers 3"} {
		code, _, summary := loadInto(t, influxLike(t, refusing(400, `{"error":"no"}`)), extra)
		if summary["rows"] != 0.0 || summary["rows_per_second"] != 0.0 || (code == 0) != strings.Contains(extra, "keep-going") {
			t.Errorf("with %q it ends with %d: %v", extra, code, summary)
		}
		if summary["rows_refused"].(float64)+summary["rows_unsent"].(float64) != smallRows {
			t.Errorf("with %q rows are missing: %v", extra, summary)
		}
	}
}

func TestAWriteThatIsAcceptedWithAnErrorInItsBodyIsNotLoaded(t *testing.T) {
	code, lines, summary := loadInto(t, influxLike(t, refusing(200, `{"error":"disk full"}`)), "")
	if code != 1 || summary["rows"] != 0.0 || lines[len(lines)-2]["message"] != "disk full" {
		t.Errorf("it ends with %d: %v", code, lines)
	}
}

func TestAPermanentErrorIsNotRetriedForEver(t *testing.T) {
	var writes atomic.Int64
	code, _, summary := loadInto(t, influxLike(t, func(w http.ResponseWriter, r *http.Request) {
		writes.Add(1)
		refusing(422, `{"error":"field type conflict"}`)(w, r)
	}), "")
	if code != 1 || summary["retries"] != 0.0 || writes.Load() != 1 {
		t.Errorf("it ends with %d after %d writes: %v", code, writes.Load(), summary)
	}
}

func TestAServerThatDiesHalfWayEndsTheLoadWithOne(t *testing.T) {
	var writes atomic.Int64
	server := httptest.NewUnstartedServer(nil)
	server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/write" {
			_, _ = io.WriteString(w, `{"results":[{}]}`)
			return
		}
		if writes.Add(1) == 4 {
			_ = server.Listener.Close()
			server.CloseClientConnections()
			return
		}
		refusing(204, "")(w, r)
	})
	server.Start()
	t.Cleanup(server.Close)
	code, _, summary := loadInto(t, server.URL, "--keep-going")
	if code != 1 || summary["rows"] != 3000.0 || summary["rows_unsent"].(float64) == 0 {
		t.Errorf("it ends with %d: %v", code, summary)
	}
}

func TestAnInterruptedLoadEndsWithOne(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	url := influxLike(t, func(w http.ResponseWriter, r *http.Request) {
		cancel()
		refusing(204, "")(w, r)
	})
	var out, notes strings.Builder
	code := Benchload.Run(ctx, words("load DATASET --batch-rows 100 --target influx --url "+url), &out, &notes)
	if code != 1 || !strings.Contains(notes.String(), "interrupted") || !strings.Contains(out.String(), `"type":"summary"`) {
		t.Errorf("it ends with %d: %s%s", code, out.String(), notes.String())
	}
}
