// Package measure counts operations and their latencies while they happen, and
// writes the events of each second.
//
// A [Run] is the timed region of a workload. Each of its workers has a [Recorder], whose
// lock nothing contends for but the end of an interval, once per second. The kinds of
// operations have names in events and numbers in calls. [Operations] also keeps a record of
// each operation in a Parquet file. Package drive makes all calls for a workload; a client
// with a loop of its own makes them itself.
package measure

import (
	"sync"
	"time"

	"benchbook/benchload/histogram"
	"benchbook/benchload/system"
)

// Counts is how much was done.
type Counts struct {
	Rows      int64
	Values    int64
	Bytes     int64 // of bodies, before compression
	WireBytes int64
}

// totals sums up operations. The drained ones are part of them: they ended after the
// time of the run was over, so no rate counts them.
type totals struct {
	Counts
	operations, errors, refused, retries int64
	drained, drainedRows                 int64
}

// add sums up.
func (t *totals) add(other *totals) {
	t.Rows += other.Rows
	t.Values += other.Values
	t.Bytes += other.Bytes
	t.WireBytes += other.WireBytes
	t.operations += other.operations
	t.errors += other.errors
	t.refused += other.refused
	t.retries += other.retries
	t.drained += other.drained
	t.drainedRows += other.drainedRows
}

// count adds one operation.
func (t *totals) count(done Counts) {
	t.Rows += done.Rows
	t.Values += done.Values
	t.Bytes += done.Bytes
	t.WireBytes += done.WireBytes
}

// Times are when an operation should have begun (in a closed loop: when it was first
// tried), when it began, and when it ended.
type Times struct{ Intended, Begun, Ended time.Time }

// Recorder counts what one worker does. Only the end of an interval, once per second,
// ever contends for its lock.
type Recorder struct {
	lock     sync.Mutex
	open     bool      // latencies count from an intended start too
	over     time.Time // when the time of the run is over; zero for no such time
	kinds    []kindRecorder
	failures *failures
}

// kindRecorder counts operations of one kind since the last interval.
type kindRecorder struct {
	totals   totals
	service  histogram.Histogram
	response histogram.Histogram
	log      *operationLog // nil if single operations are not kept
}

// Done counts an operation of a kind that succeeded, and its latencies.
func (r *Recorder) Done(kind int, done Counts, at Times) {
	k := &r.kinds[kind]
	drained := r.drained(at)
	r.lock.Lock()
	k.totals.count(done)
	k.totals.operations++
	if drained {
		k.totals.drained++
		k.totals.drainedRows += done.Rows
	}
	k.service.Record(int64(at.Ended.Sub(at.Begun)))
	if r.open {
		k.response.Record(int64(at.Ended.Sub(at.Intended)))
	}
	r.lock.Unlock()
	k.log.add(at, done.Rows, nil)
}

// Failed counts an operation that failed, with the part of it that succeeded.
func (r *Recorder) Failed(kind int, failure *system.Failure, partly Counts, at Times) {
	k := &r.kinds[kind]
	drained := r.drained(at)
	r.lock.Lock()
	k.totals.count(partly)
	k.totals.errors++
	k.totals.refused += failure.Refused
	if drained {
		k.totals.drainedRows += partly.Rows
	}
	r.lock.Unlock()
	r.failures.add(failure)
	k.log.add(at, partly.Rows, failure)
}

// Retried counts other attempts at an operation.
func (r *Recorder) Retried(kind int, attempts int64) {
	if attempts == 0 {
		return
	}
	r.lock.Lock()
	r.kinds[kind].totals.retries += attempts
	r.lock.Unlock()
}

// drained reports whether an operation ended after the time of the run.
func (r *Recorder) drained(at Times) bool { return !r.over.IsZero() && at.Ended.After(r.over) }
