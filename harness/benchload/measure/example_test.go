package measure_test

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"benchbook/benchload/event"
	"benchbook/benchload/measure"
	"benchbook/benchload/system"
)

// A client with a loop of its own counts what it did itself.
func Example() {
	var lines bytes.Buffer
	run := measure.NewRun(event.NewWriter(&lines), 1, false, "get", "put")
	run.Start(0)
	worker, begun := run.Recorder(0), run.Began()
	at := measure.Times{Intended: begun, Begun: begun, Ended: begun.Add(3 * time.Millisecond)}
	worker.Done(0, measure.Counts{Rows: 1, Bytes: 512}, at)
	worker.Done(1, measure.Counts{Rows: 10, Bytes: 5120}, at)
	worker.Failed(1, &system.Failure{Kind: system.Timeout, Message: "too late", Refused: 10}, measure.Counts{}, at)
	summary := run.Stop()
	fmt.Println(summary.Operations, summary.Rows, summary.Bytes, summary.Errors, summary.RowsRefused)
	for _, line := range strings.Split(lines.String(), "\n") {
		if strings.Contains(line, `"error"`) {
			fmt.Println(line)
		}
	}
	// Output:
	// 2 11 5632 1 10
	// {"v":1,"type":"error","kind":"timeout","status":0,"message":"too late","operations":1,"rows":10}
}
