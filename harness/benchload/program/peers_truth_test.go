package program

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/influxdata/line-protocol/v2/lineprotocol"
)

func TestRowsAndValuesInTheServerAreThoseOfTheDataset(t *testing.T) {
	var lock sync.Mutex
	rows, values := map[string]float64{}, map[string]float64{}
	url := influxLike(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		lock.Lock()
		defer lock.Unlock()
		decoder := lineprotocol.NewDecoderWithBytes(body)
		for decoder.Next() {
			table, err := decoder.Measurement()
			for err == nil {
				var key []byte
				if key, _, err = decoder.NextTag(); key == nil {
					break
				}
			}
			rows[string(table)]++
			for err == nil {
				var key []byte
				if key, _, err = decoder.NextField(); key == nil {
					break
				}
				values[string(table)+"."+string(key)]++
			}
			if err != nil {
				t.Error(err)
			}
		}
		w.WriteHeader(204)
	})
	for _, dataset := range []string{strings.Join(words("DATASET"), " "), trucks} {
		lock.Lock()
		clear(rows)
		clear(values)
		lock.Unlock()
		_, digest, _, _ := run(t, strings.Fields("generate "+dataset+" --digest")...)
		code, lines, _, _ := run(t, strings.Fields("load "+dataset+" --workers 2 --target influx --url "+url)...)
		if code != 0 || lines[len(lines)-1]["rows"] != digest[0]["rows"] || lines[len(lines)-1]["values"] != digest[0]["values"] {
			t.Errorf("%s ends with %d: %v", dataset, code, lines[len(lines)-1])
		}
		lock.Lock()
		for table, told := range digest[0]["tables"].(map[string]any) {
			counted := told.(map[string]any)
			if rows[table] != counted["rows"] {
				t.Errorf("%s has %v rows in the server, %v in the dataset", table, rows[table], counted["rows"])
			}
			for field, n := range counted["fields"].(map[string]any) {
				if values[table+"."+field] != n {
					t.Errorf("%s.%s has %v values in the server, %v in the dataset", table, field, values[table+"."+field], n)
				}
			}
		}
		lock.Unlock()
	}
}

// encoded gives the histogram of this kind among events.
func encoded(t *testing.T, lines []map[string]any, kind string) *hdrhistogram.Histogram {
	t.Helper()
	for _, line := range lines {
		if line["type"] == "histogram" && line["kind"] == kind {
			h, err := hdrhistogram.Decode([]byte(line["encoded"].(string)))
			if err != nil {
				t.Fatal(err)
			}
			return h
		}
	}
	t.Fatalf("there is no histogram of the kind %s", kind)
	return nil
}

func TestWritesHaveAHistogramOfLatencies(t *testing.T) {
	const sleep = 5 * time.Millisecond
	_, lines, summary := loadInto(t, influxLike(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		time.Sleep(sleep)
		w.WriteHeader(204)
	}), "")
	h := encoded(t, lines, "service")
	if float64(h.TotalCount()) != summary["operations"] || h.ValueAtPercentile(1) < int64(sleep) {
		t.Errorf("%d latencies, from %d ns, of %v writes", h.TotalCount(), h.ValueAtPercentile(1), summary["operations"])
	}
}

func TestASlowGeneratorIsNamedAsTheBottleneck(t *testing.T) {
	// So many batches that a processor taken away in the middle of one, by other programs, decides nothing.
	code, lines, _, _ := run(t, words("load devops --seed 1 --scale 100 --start 2016-01-01T00:00:00Z "+
		"--end 2016-01-01T04:00:00Z --interval 10s --target null --workers 4")...)
	if summary := lines[len(lines)-1]; code != 0 || summary["bottleneck"] != "generator" || summary["generator_stall_ns"].(float64) <= 0 {
		t.Errorf("the summary is %v", summary)
	}
	_, _, summary := loadInto(t, influxLike(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		time.Sleep(20 * time.Millisecond)
		w.WriteHeader(204)
	}), "")
	if summary["bottleneck"] != "server" {
		t.Errorf("with a slow server the summary is %v", summary)
	}
}

func TestAnExistingDatabaseIsNeverDropped(t *testing.T) {
	var lock sync.Mutex
	var statements []string
	writes := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		lock.Lock()
		defer lock.Unlock()
		if r.URL.Path == "/write" {
			writes++
			w.WriteHeader(204)
			return
		}
		statements = append(statements, r.FormValue("q"))
		_, _ = io.WriteString(w, `{"results":[{"series":[{"name":"measurements","values":[["cpu"]]}]}]}`)
	}))
	t.Cleanup(server.Close)
	written := func() int {
		lock.Lock()
		defer lock.Unlock()
		return writes
	}
	code, lines, summary := loadInto(t, server.URL, "")
	if code != 1 || written() != 0 || lines[1]["kind"] != "not-empty" || !strings.Contains(lines[1]["message"].(string), "--append") || summary["rows"] != 0.0 {
		t.Errorf("a database that holds data: code %d, %d writes, %v", code, written(), lines)
	}
	if code, _, _ = loadInto(t, server.URL, "--append"); code != 0 || written() == 0 {
		t.Errorf("with --append it ends with %d after %d writes", code, written())
	}
	lock.Lock()
	defer lock.Unlock()
	for _, statement := range statements {
		if upper := strings.ToUpper(statement); strings.Contains(upper, "DROP") || strings.Contains(upper, "DELETE") {
			t.Errorf("the server was told %q", statement)
		}
	}
}

func TestEveryRunTellsItsProgramAndItsProcessorTime(t *testing.T) {
	_, lines, summary := loadInto(t, influxLike(t, refusing(204, "")), "")
	program, _ := lines[0]["program"].(string)
	if program != "benchload "+Benchload.Version || summary["client_cpu_ns"].(float64) <= 0 {
		t.Errorf("the start is %v, the summary %v", lines[0], summary)
	}
	text, _ := json.Marshal(summary)
	for _, field := range []string{"duration_ns", "wire_bytes", "retries", "rows_refused", "rows_unsent", "bottleneck"} {
		if !strings.Contains(string(text), `"`+field+`"`) {
			t.Errorf("the summary has no %s", field)
		}
	}
}
