package program

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"benchbook/benchload/program/programtest"
)

// A load with a duration continues past the end of its dataset, acknowledges all that it
// sends, and ends well.
func TestALoadForATimeGoesOnPastItsDataset(t *testing.T) {
	for _, dataset := range []string{
		"devops --seed 1 --scale 1 --start 2016-01-01T00:00:00Z --end 2016-01-01T00:00:02Z --interval 1s",
		trucks,
	} {
		server, at := programtest.NullServer(t)
		code, lines, _, notes := run(t, strings.Fields("load "+dataset+" --target influx --url "+at+" --workers 2 --batch-rows 500 --duration 200ms")...)
		if code != 0 || len(lines) < 2 {
			t.Fatalf("%s ends with %d: %v %s", dataset, code, lines, notes)
		}
		last, arrived := lines[len(lines)-1], float64(server.Counts().Rows)
		if last["type"] != "summary" || last["rows"] != arrived || arrived <= 3000 {
			t.Errorf("%s: %v rows arrived, the summary is %v", dataset, arrived, last)
		}
		if last["rows_unsent"] != 0.0 || last["errors"] != 0.0 {
			t.Errorf("%s: rows are missing: %v", dataset, last)
		}
	}
}

// receiver is a server that keeps the lines that are written to it.
type receiver struct {
	lock  sync.Mutex
	lines map[string]int
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	if !strings.Contains(request.URL.Path, "write") {
		_, _ = io.WriteString(w, `{"results":[{}]}`)
		return
	}
	body := io.Reader(request.Body)
	if request.Header.Get("Content-Encoding") == "gzip" {
		body, _ = gzip.NewReader(body)
	}
	text, _ := io.ReadAll(body)
	r.lock.Lock()
	for line := range bytes.Lines(text) {
		r.lines[string(line)]++
	}
	r.lock.Unlock()
	w.WriteHeader(http.StatusNoContent)
}

// A whole load has every row of its dataset once, however early its time is over; its
// rates count the rows within the time alone.
func TestAWholeLoadHasEveryRowOfItsDataset(t *testing.T) {
	for _, dataset := range []string{strings.Join(words("DATASET"), " "), trucks} {
		_, _, rows, _ := run(t, append([]string{"generate"}, strings.Fields(dataset)...)...)
		for _, options := range []string{"", " --gzip", " --rate 1000"} {
			kept := &receiver{lines: map[string]int{}}
			server := httptest.NewServer(kept)
			code, lines, _, notes := run(t, strings.Fields("load "+dataset+" --target influx --url "+server.URL+
				" --workers 4 --batch-rows 50 --duration 1ms --whole"+options)...)
			server.Close()
			if code != 0 {
				t.Fatalf("%s%s ends with %d: %s", dataset, options, code, notes)
			}
			missing, all := 0, 0
			for line := range strings.Lines(rows) {
				all++
				if kept.lines[line] != 1 {
					missing++
				}
			}
			last := lines[len(lines)-1]
			drained, _ := last["drained_rows"].(float64)
			rate := (last["rows"].(float64) - drained) * 1e3
			if missing > 0 || last["rows"].(float64) < float64(all) || last["window_ns"] != 1e6 || math.Abs(rate-last["rows_per_second"].(float64)) > 1e-6*rate {
				t.Errorf("%s%s: %d of %d rows are missing, the summary is %v", dataset, options, missing, all, last)
			}
		}
	}
}

// reader takes some bytes and goes away.
type reader struct {
	bytes.Buffer
	most int
}

func (r *reader) Write(text []byte) (int, error) {
	if r.Len() >= r.most {
		return 0, syscall.EPIPE
	}
	return r.Buffer.Write(text)
}

// An endless generation begins with the dataset and ends well when its reader goes away.
func TestAnEndlessGenerationBeginsWithTheDataset(t *testing.T) {
	for _, dataset := range []string{strings.Join(words("DATASET"), " "), trucks} {
		_, _, rows, _ := run(t, append([]string{"generate"}, strings.Fields(dataset)...)...)
		out := &reader{most: 2 * len(rows)}
		var notes bytes.Buffer
		code := Benchload.Run(context.Background(), strings.Fields("generate "+dataset+" --endless"), out, &notes)
		const held = 127 // rows of the dataset iot may come after so many others
		want := strings.Count(rows, "\n")
		begin := map[string]bool{}
		for line := range strings.Lines(out.String()) {
			if begin[line] = true; len(begin) == want+held {
				break
			}
		}
		missing := 0
		for line := range strings.Lines(rows) {
			if !begin[line] {
				missing++
			}
		}
		if code != 0 || missing > 0 || out.Len() < 2*len(rows) {
			t.Errorf("%s ends with %d after %d bytes, %d rows are missing: %s", dataset, code, out.Len(), missing, notes.String())
		}
	}
}

// Rates count what ends within the time of a workload.
func TestRatesLeaveOutWhatEndsLate(t *testing.T) {
	server, at := programtest.NullServer(t)
	server.Delay.Sleep = 20 * time.Millisecond
	queries := filepath.Join(t.TempDir(), "queries")
	_, _, out, _ := run(t, words("queries DATASET --query-seed 1 --types 1-host-1-hr --count 4")...)
	if err := os.WriteFile(queries, []byte(out), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, command := range map[string]string{
		"load":       "load DATASET --batch-rows 50 --target influx --url " + at,
		"open load":  "load DATASET --batch-rows 50 --rate 50 --target influx --url " + at,
		"query":      "query --target influx --url " + at + " --queries " + queries,
		"open query": "query --rate 50 --target influx --url " + at + " --queries " + queries,
	} {
		_, lines, _, notes := run(t, append(words(command), "--duration", "200ms")...)
		if len(lines) == 0 {
			t.Fatalf("%s: %s", name, notes)
		}
		last := lines[len(lines)-1]
		late, _ := last["drained_operations"].(float64)
		rate := (last["operations"].(float64) - late) / last["window_ns"].(float64) * 1e9
		if last["operations"] == 0.0 || last["window_ns"] != 200e6 || math.Abs(rate-last["operations_per_second"].(float64)) > 1e-6*rate {
			t.Errorf("%s: the summary is %v", name, last)
		}
		counted := 0.0
		for _, line := range lines {
			if line["type"] == "interval" {
				counted += line["operations"].(float64)
			}
		}
		if counted != last["operations"] {
			t.Errorf("%s: the intervals have %v operations, the summary %v", name, counted, last["operations"])
		}
	}
}

// Objects are put for a time and at a rate too.
func TestObjectsForATimeAtARate(t *testing.T) {
	folder := t.TempDir()
	code, lines, _, notes := run(t, strings.Fields("blob --target files --url "+folder+"/objects --seed 1 --count 5 --size 1KiB --do put --workers 2 "+
		"--rate 500 --duration 100ms --kept "+folder+"/kept")...)
	last := lines[len(lines)-1]
	if code != 0 || last["operations"] != 50.0 || last["offered_per_second"] != 500.0 {
		t.Errorf("it ends with %d: %v %s", code, last, notes)
	}
}
