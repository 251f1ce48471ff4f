package drive

import (
	"context"
	"math"
	"runtime"
	"sync"
	"time"

	"benchbook/benchload/measure"
	"benchbook/benchload/target"
	"benchbook/benchload/walk"
)

// open asks at a rate. When a query should be sent is fixed beforehand; if all
// workers are busy then, it waits in line, and the wait is part of its response
// time: leaving it out is what is called coordinated omission.
func open(ctx context.Context, texts [][]byte, t target.Target, run *measure.Run, options Options) (offered float64) {
	arrivals := NewSchedule(int64(len(texts)), options)
	began := run.Began()
	each(ctx, t, run, options.Workers, func(a *asker) bool {
		n, offset, more := arrivals.Next()
		if !more {
			return false
		}
		intended := began.Add(offset)
		if !WaitUntil(a.ctx, intended) {
			return false
		}
		return a.ask(texts[n%int64(len(texts))], intended)
	})
	return arrivals.Offered()
}

// Schedule says when queries should be sent.
type Schedule struct {
	lock    sync.Mutex
	options Options
	count   int64 // of queries, if there is no duration
	n       int64
	elapsed float64 // ns, of Poisson arrivals
}

// NewSchedule makes the schedule of so many operations; the options may give a duration instead.
func NewSchedule(count int64, options Options) *Schedule {
	return &Schedule{count: count, options: options}
}

// Next gives the number of the next query and its time since the start.
func (s *Schedule) Next() (n int64, offset time.Duration, more bool) {
	s.lock.Lock()
	defer s.lock.Unlock()
	gap := 1e9 / s.options.Rate
	if s.options.Poisson {
		// The exponential law of the gaps; the argument is never zero.
		part := float64(walk.At(walk.Key(s.options.Seed), uint64(s.n))>>11+1) / (1 << 53)
		s.elapsed -= math.Log(part) * gap
		offset = time.Duration(s.elapsed)
	} else {
		offset = time.Duration(float64(s.n) * gap)
	}
	if s.options.Duration > 0 && offset >= s.options.Duration || s.options.Duration == 0 && s.n >= s.count {
		return 0, 0, false
	}
	s.n++
	return s.n - 1, offset, true
}

// Offered is the arrivals a second that the schedule had.
func (s *Schedule) Offered() float64 {
	if s.options.Duration == 0 || !s.options.Poisson {
		return s.options.Rate
	}
	return float64(s.n) / s.options.Duration.Seconds()
}

// Timers of the runtime may be a millisecond late, system sleeps a twentieth of
// one; the rest is waited for actively.
const (
	timerSlack = 1500 * time.Microsecond
	sleepSlack = 80 * time.Microsecond
)

// WaitUntil waits for a time, exactly; false if the run ended meanwhile.
func WaitUntil(ctx context.Context, when time.Time) bool {
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
		systemSleep(left - sleepSlack)
	}
	for time.Now().Before(when) {
		runtime.Gosched()
	}
	return ctx.Err() == nil
}
