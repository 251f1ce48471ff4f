package drive_test

import (
	"context"
	"fmt"
	"io"
	"sync/atomic"

	"benchbook/benchload/drive"
	"benchbook/benchload/event"
	"benchbook/benchload/measure"
	"benchbook/benchload/system"
)

// counter is a system whose only verb is to add.
type counter struct{ sum atomic.Int64 }

func (*counter) Name() string                 { return "counter" }
func (c *counter) Connect() (*counter, error) { return c, nil }
func (c *counter) Add(number int64)           { c.sum.Add(number) }
func (*counter) Interrupt()                   {}
func (*counter) Close()                       {}

// adder is what one worker does with it: each operation adds its number.
type adder struct {
	*counter
	number int64
}

func (a *adder) Next(number int64) bool { a.number = number; return true }
func (a *adder) Do() (drive.Result, error) {
	a.Add(a.number)
	return drive.Result{Counts: measure.Counts{Rows: 1}}, nil
}
func (*adder) Ended(*system.Failure) {}

// Two workers do a hundred operations in a closed loop.
func Example() {
	var tested counter
	work := drive.Work{
		Client: drive.Clients(&tested, func(conn *counter, _ int) drive.Client { return &adder{counter: conn} }),
		Pace:   drive.Pace{Workers: 2, Operations: 100},
	}
	events := event.NewWriter(io.Discard)
	summary, ended, err := work.Run(context.Background(), measure.NewRun(events, 2, false, "add"))
	fmt.Println(summary.Operations, summary.Errors, ended, err, tested.sum.Load())
	// Output: 100 0 false <nil> 4950
}
