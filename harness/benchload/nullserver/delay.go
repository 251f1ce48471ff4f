package nullserver

import (
	"sync"
	"time"

	"benchbook/benchload/histogram"
)

// Delay defines when answers are held back, so that the latencies that a client reports
// can be compared with known ones. The zero value holds nothing back.
type Delay struct {
	Sleep time.Duration // before each answer
	Stall time.Duration // for so long at the end of each period, nothing is answered
	Every time.Duration // the period, from the first request on

	once  sync.Once
	began time.Time

	lock sync.Mutex
	held histogram.Histogram
}

// wait holds an answer back; it is called when the request was read, and gives when
// that was, or the zero time if nothing is held back.
func (d *Delay) wait() time.Time {
	if d.Sleep == 0 && d.Stall == 0 {
		return time.Time{}
	}
	now := time.Now()
	d.once.Do(func() { d.began = now })
	length := d.Sleep
	if d.Stall > 0 {
		if phase := now.Sub(d.began) % d.Every; phase >= d.Every-d.Stall {
			length += d.Every - phase
		}
	}
	// The runtime's timers may be a millisecond late, which answered records. Sleeping in
	// the kernel or waiting actively would be exact, but take processors from the client.
	time.Sleep(length)
	return now
}

// answered records how long an answer was held back until it was handed to the system:
// the requested time, and this machine's delay, which is not the client's fault.
func (d *Delay) answered(since time.Time) {
	if since.IsZero() {
		return
	}
	took := time.Since(since)
	d.lock.Lock()
	d.held.Record(int64(took))
	d.lock.Unlock()
}

// Held returns how long answers were really held back, from the last byte of the
// request until the answer was handed to the system, as an encoded histogram.
func (d *Delay) Held() string {
	d.lock.Lock()
	defer d.lock.Unlock()
	return d.held.Encode()
}
