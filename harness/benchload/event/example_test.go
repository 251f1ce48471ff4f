package event_test

import (
	"os"

	"benchbook/benchload/event"
)

func Example() {
	events := event.NewWriter(os.Stdout)
	events.Start(event.Start{Workload: "painting", Target: "wall", Workers: 1, Loop: "closed", Program: "painter 1"})
	events.Error(event.Error{Kind: "refused", Message: "the wall is wet", Operations: 2})
	// Output:
	// {"v":1,"type":"start","workload":"painting","time_unix_ns":0,"target":"wall","workers":1,"loop":"closed","program":"painter 1"}
	// {"v":1,"type":"error","kind":"refused","status":0,"message":"the wall is wet","operations":2,"rows":0}
}
