package measure

import (
	"sync"
	"syscall"
	"time"

	"benchbook/benchload/event"
	"benchbook/benchload/histogram"
)

// Run is the timed region of a workload: its recorders and its clock.
type Run struct {
	events    *event.Writer
	open      bool
	recorders []*Recorder
	kinds     []kindTotals
	failures  failures
	kept      *Operations

	start    time.Time
	startCPU time.Duration
	window   time.Duration // what rates count; zero for the whole run
	last     time.Duration // end of the last interval, since the start
	quit     chan struct{}
	ended    sync.WaitGroup
}

// kindTotals is what came of the operations of one kind.
type kindTotals struct {
	name     string
	index    int // of the next interval
	totals   totals
	service  histogram.Histogram
	response histogram.Histogram
}

// NewRun prepares a run by so many workers; operations are the kinds of its
// operations, which recorders number from zero. An open run has response times.
func NewRun(events *event.Writer, workers int, open bool, operations ...string) *Run {
	r := &Run{events: events, open: open, quit: make(chan struct{})}
	for _, name := range operations {
		r.kinds = append(r.kinds, kindTotals{name: name})
	}
	for range workers {
		r.recorders = append(r.recorders, &Recorder{open: open, failures: &r.failures, kinds: make([]kindRecorder, len(operations))})
	}
	return r
}

// Keep writes every operation to a file too; nil writes none.
func (r *Run) Keep(file *Operations) *Run {
	if r.kept = file; file == nil {
		return r
	}
	for kind := range r.kinds {
		for i, log := range file.logs(r.kinds[kind].name, len(r.recorders)) {
			r.recorders[i].kinds[kind].log = log
		}
	}
	return r
}

// Recorder returns that of one worker.
func (r *Run) Recorder(worker int) *Recorder { return r.recorders[worker] }

// Start starts the clock, and writes an interval every second from now on. Rates
// count what ends within the window; zero counts everything.
func (r *Run) Start(window time.Duration) {
	r.window = window
	r.startCPU = cpuTime()
	r.start = time.Now()
	if r.kept != nil {
		r.kept.begin(r.start)
	}
	if window > 0 {
		for _, recorder := range r.recorders {
			recorder.over = r.start.Add(window)
		}
	}
	r.ended.Add(1)
	go func() {
		defer r.ended.Done()
		r.writeIntervals()
	}()
}

// writeIntervals ends an interval every second, and one where the window ends.
func (r *Run) writeIntervals() {
	timer := time.NewTimer(0)
	<-timer.C
	for boundary := time.Duration(0); ; {
		next := boundary + time.Second
		if boundary < r.window && r.window < next {
			timer.Reset(time.Until(r.start.Add(r.window)))
			select {
			case <-timer.C:
				r.closeInterval()
			case <-r.quit:
				return
			}
		}
		boundary = next
		timer.Reset(time.Until(r.start.Add(boundary)))
		select {
		case <-timer.C:
			r.closeInterval()
		case <-r.quit:
			return
		}
	}
}

// Began is when the clock was started.
func (r *Run) Began() time.Time { return r.start }

// closeInterval ends an interval and writes it, one event for each kind of operation.
func (r *Run) closeInterval() {
	now := time.Since(r.start)
	draining := r.window > 0 && r.last >= r.window
	var interval histogram.Histogram
	for kind := range r.kinds {
		k := &r.kinds[kind]
		var sum totals
		interval.Reset()
		for _, recorder := range r.recorders {
			recorder.take(kind, k, &sum, &interval)
		}
		k.totals.add(&sum)
		r.events.Interval(event.Interval{
			Operation: k.name, Index: k.index, StartNS: int64(r.last), DurationNS: int64(now - r.last), Drain: draining,
			Operations: sum.operations, Rows: sum.Rows, Values: sum.Values, Bytes: sum.Bytes,
			Errors: sum.errors, Histogram: interval.Encode(),
		})
		k.index++
	}
	r.last = now
}

// take moves the counts of a kind since the last interval to the totals of the run,
// the sum and the histogram of the interval.
func (r *Recorder) take(kind int, into *kindTotals, sum *totals, interval *histogram.Histogram) {
	r.lock.Lock()
	defer r.lock.Unlock()
	k := &r.kinds[kind]
	sum.add(&k.totals)
	k.totals = totals{}
	into.service.Add(&k.service)
	if r.open {
		into.response.Add(&k.response)
		interval.Add(&k.response)
	} else {
		interval.Add(&k.service)
	}
	k.service.Reset()
	k.response.Reset()
}

// Stop stops the clock, writes the last interval, the histograms and the failures,
// and returns the summary of what was counted.
func (r *Run) Stop() event.Summary {
	duration := time.Since(r.start)
	cpu := cpuTime() - r.startCPU
	close(r.quit)
	r.ended.Wait()
	r.closeInterval()
	var sum totals
	for kind := range r.kinds {
		k := &r.kinds[kind]
		for _, recorder := range r.recorders {
			recorder.kinds[kind].log.flush()
		}
		sum.add(&k.totals)
		r.writeHistogram(k.name, "service", &k.service)
		if r.open {
			r.writeHistogram(k.name, "response", &k.response)
		}
	}
	for _, failure := range r.failures.list() {
		r.events.Error(failure)
	}
	summary := event.Summary{
		DurationNS: int64(duration), Operations: sum.operations, Rows: sum.Rows, Values: sum.Values,
		Bytes: sum.Bytes, WireBytes: sum.WireBytes, RowsRefused: sum.refused, Errors: sum.errors, Retries: sum.retries,
		ClientCPUNS: int64(cpu), Bottleneck: "server",
	}
	counted := duration
	if r.window > 0 {
		counted = min(duration, r.window)
		summary.WindowNS, summary.DrainedOperations, summary.DrainedRows = int64(counted), sum.drained, sum.drainedRows
	}
	seconds := counted.Seconds()
	summary.RowsPerSecond = float64(sum.Rows-summary.DrainedRows) / seconds
	summary.OperationsPerSecond = float64(sum.operations-summary.DrainedOperations) / seconds
	summary.AchievedPerSecond = summary.OperationsPerSecond
	return summary
}

// writeHistogram writes all latencies of a kind.
func (r *Run) writeHistogram(operation, kind string, h *histogram.Histogram) {
	r.events.Histogram(event.Histogram{
		Operation: operation, Kind: kind, Unit: "ns", Count: h.Count,
		MinNS: h.Min, MeanNS: h.Mean(), MaxNS: h.Max, Encoded: h.Encode(),
	})
}

// cpuTime is what this process has used so far, in user and system mode.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
