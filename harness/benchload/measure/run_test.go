package measure_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"benchbook/benchload/event"
	"benchbook/benchload/measure"
)

// Latency over time has to show the waiting of operations that began late: the intervals
// of an open loop hold response times, those of a closed one service times.
func TestIntervalsHoldTheTimesThatThePhaseIsJudgedBy(t *testing.T) {
	for _, c := range []struct {
		open bool
		kind string
	}{{open: true, kind: "response"}, {open: false, kind: "service"}} {
		var lines bytes.Buffer
		run := measure.NewRun(event.NewWriter(&lines), 1, c.open, "query")
		run.Start(0)
		for i := range 10 {
			due := run.Began().Add(time.Duration(i) * time.Millisecond)
			begun := due.Add(300 * time.Millisecond)
			run.Recorder(0).Done(0, measure.Counts{}, measure.Times{Intended: due, Begun: begun, Ended: begun.Add(2 * time.Millisecond)})
		}
		run.Stop()
		intervals, whole := 0, ""
		var last string
		for line := range bytes.Lines(lines.Bytes()) {
			var found struct{ Type, Kind, Histogram, Encoded string }
			if err := json.Unmarshal(line, &found); err != nil {
				t.Fatal(err)
			}
			switch {
			case found.Type == "interval":
				intervals++
				last = found.Histogram
			case found.Type == "histogram" && found.Kind == c.kind:
				whole = found.Encoded
			}
		}
		if intervals != 1 || whole == "" || last != whole {
			t.Errorf("open %t: %d intervals, the last holds %q, the %s times are %q", c.open, intervals, last, c.kind, whole)
		}
	}
}
