package nullserver

import (
	"runtime"
	"sync"
	"syscall"
	"time"

	"benchbook/benchload/histogram"
)

// Delay is when answers are held back, so that what a client says of latencies can be
// held against what is known. Nothing is held back by the zero value.
type Delay struct {
	Sleep time.Duration // before each answer
	Stall time.Duration // for so long at the end of each period, nothing is answered
	Every time.Duration // the period, from the first request on

	once  sync.Once
	began time.Time

	lock sync.Mutex
	held histogram.Histogram
}

// wait holds an answer back; it is called when the request was read.
func (d *Delay) wait() {
	if d.Sleep == 0 && d.Stall == 0 {
		return
	}
	now := time.Now()
	d.once.Do(func() { d.began = now })
	until := now.Add(d.Sleep)
	if d.Stall > 0 {
		if phase := now.Sub(d.began) % d.Every; phase >= d.Every-d.Stall {
			until = now.Add(d.Every - phase + d.Sleep)
		}
	}
	sleepUntil(until)
	took := time.Since(now)
	d.lock.Lock()
	d.held.Record(int64(took))
	d.lock.Unlock()
}

// Held is how long answers were held back in truth, as an encoded histogram: on a
// busy machine longer than asked for, which is not the client's fault.
func (d *Delay) Held() string {
	d.lock.Lock()
	defer d.lock.Unlock()
	return d.held.Encode()
}

// spin is how long before a moment the system's sleep ends, which may be late.
const spin = 80 * time.Microsecond

// sleepUntil sleeps until a moment, exactly: the timers of the runtime may be a
// millisecond late.
func sleepUntil(moment time.Time) {
	if left := time.Until(moment) - spin; left > 0 {
		request := syscall.NsecToTimespec(int64(left))
		_ = syscall.Nanosleep(&request, nil) // what a signal cut off is waited for below
	}
	for time.Now().Before(moment) {
		runtime.Gosched()
	}
}
