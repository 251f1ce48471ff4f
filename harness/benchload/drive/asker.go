package drive

import (
	"context"
	"time"

	"benchbook/benchload/measure"
	"benchbook/benchload/target"
)

// asker asks over one connection.
type asker struct {
	client   target.Client
	recorder *measure.Recorder
	ctx      context.Context
	stop     func() // ends the whole run
	failed   int    // to connect, in a row
}

// ask sends one query and records it; intended is when it should have been
// sent. It gives false when the server seems to be gone.
func (a *asker) ask(text []byte, intended time.Time) bool {
	begun := time.Now()
	answer, err := a.client.Query(text)
	if err == nil {
		a.failed = 0
		a.recorder.Done(measure.Counts{Rows: answer.Rows, Bytes: answer.Bytes, WireBytes: answer.Bytes},
			measure.Times{Intended: intended, Begun: begun, Ended: answer.Done})
		return true
	}
	failure := target.AsFailure(err)
	a.recorder.Failed(failure, measure.Counts{}, measure.Times{Intended: intended, Begun: begun, Ended: time.Now()})
	if failure.Kind != target.Connection {
		a.failed = 0
		return true
	}
	a.failed++
	if a.failed >= connectionFailures {
		a.stop()
		return false
	}
	return true
}
