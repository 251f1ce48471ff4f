package command

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"benchbook/benchload/drive"
	"benchbook/benchload/event"
	"benchbook/benchload/measure"
	"benchbook/benchload/target"
)

// paceFlags are those of every command that measures.
type paceFlags struct {
	Workers          int           `default:"1" range:"1:4096" placeholder:"N" help:"Connections, each with one operation in flight. Default: ${default}."`
	Rate             float64       `placeholder:"N" help:"Operations per second, whatever the system does: an open loop. Default: a closed loop, in which each worker continues when it has its answer."`
	Arrivals         string        `default:"constant" enum:"constant,poisson" help:"How the operations of an open loop are spread over time: ${enum}."`
	Duration         time.Duration `placeholder:"LENGTH" help:"Begin operations for so long, such as 30s. Rates leave out what ends later."`
	RecordOperations string        `placeholder:"FILE" help:"Also write a record of each operation to this Parquet file: worker, when it should have begun, began and ended, rows, status. It has its name when it is complete."`
}

// pace checks the flags against each other; operations is how many there are, zero for
// as many as the workload has.
func (f *paceFlags) pace(operations int64, seed uint64) (drive.Pace, error) {
	if f.Arrivals != "constant" && f.Rate == 0 {
		return drive.Pace{}, mistakef("--arrivals is for an open loop, but there is no --rate; add one, or leave --arrivals out.")
	}
	return drive.Pace{
		Workers: f.Workers, Operations: operations, Duration: f.Duration, Rate: f.Rate, Poisson: f.Arrivals == "poisson", Seed: seed,
	}, nil
}

// workload writes the events of one workload.
type workload struct {
	console *console
	events  *event.Writer
	start   event.Start
	kept    *measure.Operations // single operations; nil for none
}

// workload begins a workload: it opens the file of single operations, if any.
func (f *paceFlags) workload(c *console, start event.Start) (*workload, error) {
	start.Workers, start.Loop = f.Workers, "closed"
	if f.Rate > 0 {
		start.Loop = "open"
	}
	w := newWorkload(c, start)
	if f.RecordOperations == "" {
		return w, nil
	}
	kept, err := measure.CreateOperations(f.RecordOperations)
	if err != nil {
		return nil, mistakef("--record-operations cannot be written: %s; give another path.", err)
	}
	w.kept = kept
	return w, nil
}

// newWorkload begins a workload without a pace.
func newWorkload(c *console, start event.Start) *workload {
	start.Program = program
	return &workload{console: c, events: event.NewWriter(c.out), start: start}
}

// begin writes the first event.
func (w *workload) begin() {
	w.start.TimeUnixNS = time.Now().UnixNano()
	w.events.Start(w.start)
}

// close ends a workload that may not have run: a failure to write the file of single
// operations is reported by finish.
func (w *workload) close() { _, _ = w.kept.Close() }

// refuse reports that nothing was done, and why.
func (w *workload) refuse(failure *target.Failure, rowsUnsent int64) error {
	w.events.Error(failure.Event())
	w.events.Summary(event.Summary{Workload: w.start.Workload, Errors: 1, RowsUnsent: rowsUnsent, Bottleneck: "server"})
	return errReported
}

// run does the work and returns its summary.
func (w *workload) run(work *drive.Work, operation string) (summary event.Summary, ended bool, err error) {
	run := measure.NewRun(w.events, work.Pace.Workers, work.Pace.Rate > 0, operation).Keep(w.kept)
	return work.Run(w.console.ctx, run)
}

// finish writes the last event and returns how the workload ended.
func (w *workload) finish(summary event.Summary, failed bool) error {
	waited, lost := w.kept.Close()
	summary.Workload, summary.RecordStallNS = w.start.Workload, int64(waited)
	w.events.Summary(summary)
	switch {
	case lost != nil:
		return lost
	case w.events.Err() != nil:
		return fmt.Errorf("cannot write the events: %w", w.events.Err())
	case w.console.ctx.Err() != nil:
		return fmt.Errorf("the %s was interrupted after %d operations and %d rows", w.start.Workload, summary.Operations, summary.Rows)
	case failed:
		return errReported
	}
	return nil
}

// waitForLine waits for a line of standard input.
func waitForLine(ctx context.Context) error {
	came := make(chan error, 1)
	go func() {
		_, err := bufio.NewReader(os.Stdin).ReadString('\n')
		came <- err
	}()
	select {
	case err := <-came:
		if err != nil {
			return errors.New("standard input ended before the line that --wait waits for; the load did not begin")
		}
		return nil
	case <-ctx.Done():
		return errors.New("the load was interrupted before it began")
	}
}
