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
	"benchbook/benchload/system"
)

// Pace are the flags of every command that measures.
type Pace struct {
	Workers          int           `default:"1" range:"1:4096" placeholder:"N" help:"Connections, each with one operation in flight. Default: ${default}."`
	Rate             float64       `placeholder:"N" help:"Operations per second, whatever the system does: an open loop. Default: a closed loop, in which each worker continues when it has its answer."`
	Arrivals         string        `default:"constant" enum:"constant,poisson" help:"How the operations of an open loop are spread over time: ${enum}."`
	Duration         time.Duration `placeholder:"LENGTH" help:"Begin operations for so long, such as 30s. Rates leave out what ends later."`
	RecordOperations string        `placeholder:"FILE" help:"Also write a record of each operation to this Parquet file: worker, when it should have begun, began and ended, rows, status. It has its name when it is complete."`
}

// Loop checks the flags against each other; operations is how many there are, zero for
// as many as the workload has. The loop ends with them even before --duration is over.
func (f *Pace) Loop(operations int64, seed uint64) (drive.Pace, error) {
	if f.Arrivals != "constant" && f.Rate == 0 {
		return drive.Pace{}, Mistakef("--arrivals is for an open loop, but there is no --rate; add one, or leave --arrivals out.")
	}
	return drive.Pace{
		Workers: f.Workers, Operations: operations, Duration: f.Duration, Rate: f.Rate, Poisson: f.Arrivals == "poisson", Seed: seed,
	}, nil
}

// Workload writes the events of one workload.
type Workload struct {
	Start   event.Start   // the first event, which Begin writes
	Events  *event.Writer // of all others
	Console *Console
	Record  *measure.Operations // of single operations; nil for none

	Answered func() event.Answered // what was answered to questions; nil if nobody counts
}

// Workload begins a workload: it opens the file of single operations, if any.
func (f *Pace) Workload(c *Console, start event.Start) (*Workload, error) {
	start.Workers, start.Loop = f.Workers, "closed"
	if f.Rate > 0 {
		start.Loop = "open"
	}
	w := NewWorkload(c, start)
	if f.RecordOperations == "" {
		return w, nil
	}
	kept, err := measure.CreateOperations(f.RecordOperations)
	if err != nil {
		return nil, Mistakef("--record-operations cannot be written: %s; give another path.", err)
	}
	w.Record = kept
	return w, nil
}

// NewWorkload begins a workload without a pace.
func NewWorkload(c *Console, start event.Start) *Workload {
	start.Program = c.Program
	return &Workload{Events: event.NewWriter(c.Out), Start: start, Console: c}
}

// Begin writes the first event.
func (w *Workload) Begin() {
	w.Start.TimeUnixNS = time.Now().UnixNano()
	w.Events.Start(w.Start)
}

// Close ends a workload that may not have run: a failure to write the file of single
// operations is reported by Finish.
func (w *Workload) Close() { _, _ = w.Record.Close() }

// Refuse reports that nothing was done, and why.
func (w *Workload) Refuse(failure *system.Failure, rowsUnsent int64) error {
	w.Events.Error(failure.Event())
	w.Events.Summary(event.Summary{Workload: w.Start.Workload, Errors: 1, RowsUnsent: rowsUnsent, Bottleneck: "server"})
	return errReported
}

// Run does the work and returns its summary; operations are the names of the kinds of
// its operations, which results number from zero.
func (w *Workload) Run(work *drive.Work, operations ...string) (summary event.Summary, ended bool, err error) {
	run := measure.NewRun(w.Events, work.Pace.Workers, work.Pace.Rate > 0, operations...).Keep(w.Record)
	return work.Run(w.Console.Context, run)
}

// Ask asks questions, first some without a clock, and writes the events.
func (w *Workload) Ask(work *drive.Work, warmup int64, digest string) error {
	w.Begin()
	if warmup > 0 {
		warm := *work
		warm.Pace = drive.Pace{Workers: work.Pace.Workers, Operations: warmup}
		if _, _, err := w.Run(&warm, "warmup"); err != nil {
			return err
		}
	}
	summary, _, err := w.Run(work, "query")
	if err != nil {
		return err
	}
	if w.Answered != nil {
		w.Events.Answered(w.Answered())
	}
	summary.Digest = &digest
	return w.Finish(summary, summary.Errors > 0)
}

// Finish writes the last event and returns how the workload ended.
func (w *Workload) Finish(summary event.Summary, failed bool) error {
	waited, lost := w.Record.Close()
	summary.Workload, summary.RecordStallNS = w.Start.Workload, int64(waited)
	w.Events.Summary(summary)
	switch {
	case lost != nil:
		return lost
	case w.Events.Err() != nil:
		return fmt.Errorf("cannot write the events: %w", w.Events.Err())
	case w.Console.Context.Err() != nil:
		return fmt.Errorf("the %s was interrupted after %d operations and %d rows", w.Start.Workload, summary.Operations, summary.Rows)
	case failed:
		return errReported
	}
	return nil
}

// WaitForLine waits for a line of standard input.
func WaitForLine(ctx context.Context) error {
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
