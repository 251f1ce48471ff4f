package clients

import (
	"bytes"
	"encoding/json"
	"testing"

	"benchbook/benchload/event"
	"benchbook/benchload/histogram"
)

// said gives the lines that a client writes.
func said(write func(*event.Writer)) [][]byte {
	var out bytes.Buffer
	write(event.NewWriter(&out))
	return bytes.Split(bytes.TrimSpace(out.Bytes()), []byte("\n"))
}

// latencies is a histogram of these values.
func latencies(values ...int64) *histogram.Histogram {
	h := &histogram.Histogram{}
	for _, v := range values {
		h.Record(v)
	}
	return h
}

func TestEventsOfClientsAreThoseOfOneLoad(t *testing.T) {
	var out bytes.Buffer
	m := newMerge(event.NewWriter(&out), 2)
	feed := func(client int, write func(*event.Writer)) {
		for _, line := range said(write) {
			if err := m.take(client, line); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i := range 2 {
		feed(i, func(w *event.Writer) { w.Start(event.Start{Workload: "load", Workers: 2, Rows: 100}) })
	}
	m.start()
	interval := func(index int, start, length, rows int64, values ...int64) func(*event.Writer) {
		return func(w *event.Writer) {
			w.Interval(event.Interval{Operation: "write", Index: index, StartNS: start, DurationNS: length, Rows: rows,
				Operations: int64(len(values)), Histogram: latencies(values...).Encode()})
		}
	}
	feed(0, interval(0, 0, 1e9, 40, 1000, 2000))
	if bytes.Contains(out.Bytes(), []byte("interval")) {
		t.Error("an interval is written before all clients have come to it")
	}
	feed(1, interval(0, 0, 1.1e9, 50, 9000))
	// The first client is refused something; the second one dies.
	feed(0, func(w *event.Writer) {
		h := latencies(1000, 2000)
		w.Histogram(event.Histogram{Operation: "write", Kind: "service", Count: 2, MinNS: 1000, MeanNS: 1500, MaxNS: 2000, Encoded: h.Encode()})
		w.Error(event.Error{Kind: "refused", Status: 400, Message: "no", Operations: 1, Rows: 60})
		w.Summary(event.Summary{Workload: "load", DurationNS: 1e9, Operations: 2, Rows: 40, RowsRefused: 60, Errors: 1, ClientCPUNS: 5, GeneratorStallNS: 3e9})
	})
	if err := m.end(1); err != nil {
		t.Fatal(err)
	}
	summary := m.finish()
	if summary.Rows != 90 || summary.RowsRefused != 60 || summary.RowsUnsent != 50 || summary.DurationNS != 1.1e9 || summary.Errors != 2 || summary.Clients != 2 {
		t.Errorf("the summary is %+v", summary)
	}
	if summary.Bottleneck != "generator" {
		t.Errorf("the bottleneck is the %s", summary.Bottleneck)
	}
	var first, merged map[string]any
	all := bytes.Split(bytes.TrimSpace(out.Bytes()), []byte("\n"))
	_ = json.Unmarshal(all[0], &first)
	_ = json.Unmarshal(all[1], &merged)
	if first["rows"] != 200.0 || first["workers"] != 4.0 || first["clients"] != 2.0 {
		t.Errorf("the start is %v", first)
	}
	h, err := histogram.Decode(merged["histogram"].(string))
	if err != nil || h.Count != 3 || merged["rows"] != 90.0 || merged["duration_ns"] != 1.1e9 {
		t.Errorf("the interval is %v with %d latencies", merged, h.Count)
	}
}

func FuzzTake(f *testing.F) {
	f.Add([]byte(`{"v":1,"type":"interval","operation":"write","histogram":"AAAA"}`))
	f.Add([]byte(`{"v":1,"type":"summary","rows":-1}`))
	f.Fuzz(func(_ *testing.T, line []byte) {
		m := newMerge(event.NewWriter(&bytes.Buffer{}), 1)
		_ = m.take(0, line) // an error at the most
		_ = m.end(0)
		m.finish()
	})
}
