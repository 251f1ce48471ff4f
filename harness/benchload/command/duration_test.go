package command

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A load with a duration goes on past the end of its dataset, acknowledges all that it
// sends, and ends well.
func TestALoadForATimeGoesOnPastItsDataset(t *testing.T) {
	for _, dataset := range []string{
		"stress --seed 1 --scale 10 --start 2016-01-01T00:00:00Z --end 2016-01-01T00:00:02Z --interval 1s",
		trucks, stocks,
	} {
		server, at := nullServing(t)
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

// Rates count what ends within the time of a workload.
func TestRatesLeaveOutWhatEndsLate(t *testing.T) {
	server, at := nullServing(t)
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
