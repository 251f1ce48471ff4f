package measure

import (
	"sync"
	"time"

	"benchbook/benchload/event"
	"benchbook/benchload/histogram"
	"benchbook/benchload/operation"
)

// Run is the timed region of a workload: its recorders and its clock.
type Run struct {
	events    *event.Writer
	operation string
	open      bool
	recorders []*Recorder
	failures  Failures
	kept      *operation.File

	start    time.Time
	startCPU time.Duration
	last     time.Duration // end of the interval written last, since the start
	index    int
	total    Counts
	interval histogram.Histogram
	service  histogram.Histogram
	response histogram.Histogram
	quit     chan struct{}
	ended    sync.WaitGroup
}

// NewRun prepares a run of an operation by so many workers.
func NewRun(events *event.Writer, operation string, workers int, open bool) *Run {
	r := &Run{events: events, operation: operation, open: open, quit: make(chan struct{})}
	for range workers {
		r.recorders = append(r.recorders, &Recorder{open: open, failures: &r.failures})
	}
	return r
}

// Keep keeps every operation in a file too; nil keeps none.
func (r *Run) Keep(file *operation.File) *Run {
	if r.kept = file; file != nil {
		for i, log := range file.Logs(r.operation, len(r.recorders)) {
			r.recorders[i].log = log
		}
	}
	return r
}

// Recorder is that of one worker.
func (r *Run) Recorder(worker int) *Recorder { return r.recorders[worker] }

// Start starts the clock, and writes an interval a second from now on.
func (r *Run) Start() {
	r.startCPU = cpuTime()
	r.start = time.Now()
	if r.kept != nil {
		r.kept.Begin(r.start)
	}
	r.ended.Add(1)
	go func() {
		defer r.ended.Done()
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				r.close()
			case <-r.quit:
				return
			}
		}
	}()
}

// Began is when the clock was started.
func (r *Run) Began() time.Time { return r.start }

// close ends an interval and writes it.
func (r *Run) close() {
	now := time.Since(r.start)
	var counts Counts
	r.interval.Reset()
	for _, recorder := range r.recorders {
		recorder.lock.Lock()
		counts.add(recorder.counts)
		recorder.counts = Counts{}
		r.service.Add(&recorder.service)
		if r.open {
			r.response.Add(&recorder.response)
			r.interval.Add(&recorder.response)
		} else {
			r.interval.Add(&recorder.service)
		}
		recorder.service.Reset()
		recorder.response.Reset()
		recorder.lock.Unlock()
	}
	r.total.add(counts)
	r.events.Interval(event.Interval{
		Operation: r.operation, Index: r.index, StartNS: int64(r.last), DurationNS: int64(now - r.last),
		Operations: counts.Operations, Rows: counts.Rows, Values: counts.Values, Bytes: counts.Bytes,
		Errors: counts.Errors, Histogram: r.interval.Encode(),
	})
	r.index++
	r.last = now
}

// Stop stops the clock, writes the rest, the histograms and the failures, and
// gives the beginnings of a summary. Only the writer of the summary is left to do.
func (r *Run) Stop() event.Summary {
	duration := time.Since(r.start)
	cpu := cpuTime() - r.startCPU
	close(r.quit)
	r.ended.Wait()
	r.close()
	for _, recorder := range r.recorders {
		recorder.log.Flush()
	}
	r.writeHistogram("service", &r.service)
	if r.open {
		r.writeHistogram("response", &r.response)
	}
	for _, failure := range r.failures.list() {
		r.events.Error(failure)
	}
	seconds := duration.Seconds()
	t := r.total
	return event.Summary{
		DurationNS: int64(duration), Operations: t.Operations, Rows: t.Rows, Values: t.Values,
		Bytes: t.Bytes, WireBytes: t.WireBytes, RowsRefused: t.Refused, Errors: t.Errors, Retries: t.Retries,
		ClientCPUNS: int64(cpu), Bottleneck: "server", RowsPerSecond: float64(t.Rows) / seconds,
		OperationsPerSecond: float64(t.Operations) / seconds, AchievedPerSecond: float64(t.Operations) / seconds,
	}
}

// writeHistogram writes all latencies of a kind.
func (r *Run) writeHistogram(kind string, h *histogram.Histogram) {
	r.events.Histogram(event.Histogram{
		Operation: r.operation, Kind: kind, Unit: "ns", Count: h.Count,
		MinNS: h.Min, MeanNS: h.Mean(), MaxNS: h.Max, Encoded: h.Encode(),
	})
}
