package drive

import (
	"context"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"benchbook/benchload/walk"
)

// Pace says how many operations are done, and when.
type Pace struct {
	Workers    int
	Operations int64         // of all workers; zero for as many as clients prepare
	Duration   time.Duration // operations begin for so long; zero for no limit
	Rows       int64         // operations begin after the duration too until so many rows were sent
	Rate       float64       // operations per second of an open loop; zero for a closed one
	Poisson    bool          // arrivals of an open loop
	Seed       uint64        // of the arrivals
	Tick       time.Duration // a worker of a closed loop begins at most one operation in each; zero for no limit
}

// arrivals hands the operations out to the workers.
type arrivals struct {
	pace  Pace
	began time.Time
	n     atomic.Int64
	rows  atomic.Int64 // that were sent, refused ones included

	lock    sync.Mutex // of what follows: an open loop
	elapsed float64    // ns, of Poisson arrivals
	cut     bool       // operations that were due never began
}

func newArrivals(pace Pace, began time.Time) *arrivals { return &arrivals{pace: pace, began: began} }

// next returns the number of the next operation and, in an open loop, when it should
// begin; false if there are no more.
func (a *arrivals) next(ctx context.Context, now time.Time) (number int64, intended time.Time, more bool) {
	if a.pace.Rate > 0 {
		number, offset, more := a.open(now.Sub(a.began))
		if !more && a.pace.Duration > 0 {
			// The time of the workload includes what is left of it after the last arrival.
			waitUntil(ctx, a.began.Add(a.pace.Duration))
		}
		return number, a.began.Add(offset), more
	}
	if a.over(now.Sub(a.began)) {
		return 0, time.Time{}, false
	}
	number = a.n.Add(1) - 1
	return number, time.Time{}, a.pace.Operations == 0 || number < a.pace.Operations
}

// over reports whether no operation begins any more so long after the start.
func (a *arrivals) over(elapsed time.Duration) bool {
	return a.pace.Duration > 0 && elapsed >= a.pace.Duration && a.rows.Load() >= a.pace.Rows
}

// open returns the number of the next arrival and its time since the start. It is
// fixed in advance: if all workers are busy then, the operation waits in line, and the
// wait is part of its response time. Leaving it out is called coordinated omission.
//
// If the line is so long that its operations would begin a whole duration late, those
// that are left in it never begin: a rate of millions would make a phase last for hours.
// Such a loop is saturated, and its latency shows the duration, not the system.
func (a *arrivals) open(since time.Duration) (number int64, offset time.Duration, more bool) {
	a.lock.Lock()
	defer a.lock.Unlock()
	if a.over(since - a.pace.Duration) {
		a.cut = true
		return 0, 0, false
	}
	number = a.n.Load()
	gap, elapsed := 1e9/a.pace.Rate, a.elapsed
	if a.pace.Poisson {
		// The exponential law of the gaps; the argument is never zero.
		part := float64(walk.At(walk.Key(a.pace.Seed), uint64(number))>>11+1) / (1 << 53)
		elapsed -= math.Log(part) * gap
		offset = time.Duration(elapsed)
	} else {
		offset = time.Duration(float64(number) * gap)
	}
	if a.over(offset) || a.pace.Operations > 0 && number >= a.pace.Operations {
		return 0, 0, false
	}
	a.elapsed = elapsed
	a.n.Store(number + 1)
	return number, offset, true
}

// ticker says when a worker may begin its next operation, as time.Ticker does: at
// multiples of its interval since the start. A worker that is late begins at once, and
// what it missed is not made up for.
type ticker struct {
	interval time.Duration // zero: always
	due      time.Time
}

// begun moves on to the first tick after an operation has begun.
func (t *ticker) begun(at time.Time) {
	if t.interval > 0 {
		t.due = t.due.Add(t.interval * (1 + at.Sub(t.due)/t.interval))
	}
}

// after returns the later of a time and the next tick.
func (t *ticker) after(at time.Time) time.Time {
	if t.interval > 0 && t.due.After(at) {
		return t.due
	}
	return at
}

// offered returns the arrivals per second of an open loop: with Poisson arrivals their
// number is random, so it differs from the rate.
func (a *arrivals) offered() float64 {
	if a.pace.Duration == 0 || !a.pace.Poisson || a.cut {
		return a.pace.Rate
	}
	return float64(a.n.Load()) / a.pace.Duration.Seconds()
}

// Timers of the runtime may be a millisecond late, sleeps in the kernel a twentieth of
// one; the rest of a wait is active.
const (
	timerSlack = 1500 * time.Microsecond
	sleepSlack = 80 * time.Microsecond
)

// waitUntil waits for a time, exactly; false if the workload ended meanwhile.
func waitUntil(ctx context.Context, when time.Time) bool {
	if left := time.Until(when); left > timerSlack {
		timer := time.NewTimer(left - timerSlack)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return false
		}
	}
	if left := time.Until(when); left > sleepSlack {
		request := syscall.NsecToTimespec(int64(left - sleepSlack))
		_ = syscall.Nanosleep(&request, nil) // a signal may end it early
	}
	for time.Now().Before(when) {
		runtime.Gosched()
	}
	return ctx.Err() == nil
}
