package drive

import (
	"context"
	"sync/atomic"
	"time"

	"benchbook/benchload/system"
)

// Rule says what happens after a failure.
type Rule struct {
	Retries   int           // of one operation
	Pause     time.Duration // before the first retry; doubled before each further one
	KeepGoing bool          // after a failed operation; otherwise it ends the workload
	Most      int64         // failed operations that end the workload all the same; zero for no limit
}

const (
	// unreachable attempts in a row make a worker end the workload: enough for a
	// restart of the server's listener, not for a server that is gone.
	unreachable = 4
	// maxPause is the longest pause before a retry.
	maxPause = 5 * time.Second
)

// retry decides about another attempt after a failure: the server may be able to do
// later what it cannot do now; what it calls wrong stays wrong, and what took too
// long may still be in progress.
func (r Rule) retry(failure *system.Failure, attempt, missed int) (pause time.Duration, again bool) {
	switch failure.Kind {
	case system.Server:
		return min(r.Pause<<min(attempt, 10), maxPause), attempt < r.Retries
	case system.Connection:
		return r.Pause, attempt < r.Retries && missed < unreachable
	default:
		return 0, false
	}
}

// ends decides whether a failed operation ends the workload.
func (r Rule) ends(missed int, failed int64) bool {
	return !r.KeepGoing || missed >= unreachable || r.Most > 0 && failed >= r.Most
}

// failureCount counts the failed operations of all workers.
type failureCount struct{ n atomic.Int64 }

func (c *failureCount) add() int64 { return c.n.Add(1) }

// pause waits; false if the workload ended meanwhile.
func pause(ctx context.Context, length time.Duration) bool {
	timer := time.NewTimer(length)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
