// Package measure counts operations and their latencies while they happen, and
// writes what happened in each second.
package measure

import (
	"sync"
	"time"

	"benchbook/benchload/histogram"
	"benchbook/benchload/operation"
	"benchbook/benchload/target"
)

// Counts is how much was done.
type Counts struct {
	Operations int64 // that succeeded
	Rows       int64
	Values     int64
	Bytes      int64 // of bodies, before compression
	WireBytes  int64
	Errors     int64 // operations that failed
	Refused    int64 // rows that were sent and not acknowledged
	Retries    int64
}

// add sums up.
func (c *Counts) add(other Counts) {
	c.Operations += other.Operations
	c.Rows += other.Rows
	c.Values += other.Values
	c.Bytes += other.Bytes
	c.WireBytes += other.WireBytes
	c.Errors += other.Errors
	c.Refused += other.Refused
	c.Retries += other.Retries
}

// Times are when an operation should have begun (in a closed loop: when it was
// tried first), when it began, and when it ended.
type Times struct{ Intended, Begun, Ended time.Time }

// Recorder counts what one worker does. Its lock is only ever contended once a
// second, when the interval is closed.
type Recorder struct {
	lock     sync.Mutex
	open     bool // latencies count from an intended start too
	counts   Counts
	service  histogram.Histogram
	response histogram.Histogram
	failures *Failures
	log      *operation.Log // nil if single operations are not kept
}

// Done counts an operation that succeeded, and its latencies.
func (r *Recorder) Done(done Counts, at Times) {
	service, response := int64(at.Ended.Sub(at.Begun)), int64(at.Ended.Sub(at.Intended))
	r.lock.Lock()
	done.Operations = 1
	r.counts.add(done)
	r.service.Record(service)
	if r.open {
		r.response.Record(response)
	}
	r.lock.Unlock()
	r.log.Add(at.Intended, at.Begun, at.Ended, done.Rows, nil)
}

// Failed counts an operation that failed, with what of it succeeded.
func (r *Recorder) Failed(failure *target.Failure, partly Counts, at Times) {
	r.lock.Lock()
	partly.Errors = 1
	partly.Refused = failure.Refused
	r.counts.add(partly)
	r.lock.Unlock()
	r.failures.add(failure)
	r.log.Add(at.Intended, at.Begun, at.Ended, partly.Rows, failure)
}

// Retried counts an attempt that is made again.
func (r *Recorder) Retried() {
	r.lock.Lock()
	r.counts.Retries++
	r.lock.Unlock()
}
