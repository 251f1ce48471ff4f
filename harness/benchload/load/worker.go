package load

import (
	"context"
	"time"

	"benchbook/benchload/measure"
	"benchbook/benchload/target"
)

// worker sends batches over one connection, one after the other.
type worker struct {
	options  Options
	source   Source
	client   target.Client
	recorder *measure.Recorder
	stop     func() // ends the whole load
}

// work sends until there is nothing left, and gives the time it waited for batches.
func (w *worker) work(ctx context.Context) time.Duration {
	defer w.client.Close()
	stall := time.Duration(0)
	for ctx.Err() == nil {
		waiting := time.Now()
		batch, more := w.source.Next()
		stall += time.Since(waiting)
		if !more {
			break
		}
		w.send(ctx, batch)
		w.source.Release(batch)
	}
	return stall
}

// send sends one batch until it is acknowledged or given up. The latency is that
// of the attempt that was acknowledged; pauses are not a service of the server.
// An attempt that was interrupted says nothing about the server: where it had
// answered an earlier one, its words are why the batch is given up.
func (w *worker) send(ctx context.Context, batch Batch) {
	request := target.Batch{Rows: batch.Rows, Bytes: batch.Bytes, Gzip: batch.Gzip}
	first := time.Now()
	var said *target.Failure
	for attempt, begun := 0, first; ; attempt, begun = attempt+1, time.Now() {
		failure := target.AsFailure(w.client.Write(request))
		at := measure.Times{Intended: first, Begun: begun, Ended: time.Now()}
		counts := measure.Counts{
			Rows: batch.Rows, Values: batch.Values, Bytes: batch.Size, WireBytes: int64(len(batch.Bytes)),
		}
		if failure == nil {
			w.recorder.Done(counts, at)
			return
		}
		if failure.Kind == target.Server {
			said = failure
		}
		if attempt < w.retries(failure) && pause(ctx, w.pause(failure, attempt)) {
			w.recorder.Retried()
			continue
		}
		if said != nil && ctx.Err() != nil {
			failure = said
		}
		if failure.Refused == 0 {
			failure.Refused = batch.Rows
		}
		w.recorder.Failed(failure, part(counts, batch.Rows-failure.Refused), at)
		if failure.Kind == target.Connection || !w.options.KeepGoing {
			w.stop()
		}
		return
	}
}

// part is the share of a batch that was taken although the rest was refused.
func part(counts measure.Counts, rows int64) measure.Counts {
	if rows <= 0 {
		return measure.Counts{}
	}
	counts.Values = counts.Values * rows / counts.Rows
	counts.Bytes = counts.Bytes * rows / counts.Rows
	counts.Rows = rows
	return counts
}

// connectionRetries is how often a connection is tried again: enough for a
// restart of the server's listener, not for a server that is gone.
const connectionRetries = 3

// retries is how often a batch is sent again after a failure of this kind. A
// request that the server calls wrong stays wrong.
func (w *worker) retries(failure *target.Failure) int {
	switch failure.Kind {
	case target.Server:
		return w.options.Retries
	case target.Connection:
		return min(w.options.Retries, connectionRetries)
	default:
		return 0
	}
}

// maxPause is the longest pause before a retry.
const maxPause = 5 * time.Second

// pause is how long to wait before the next attempt.
func (w *worker) pause(failure *target.Failure, attempt int) time.Duration {
	if failure.Kind == target.Connection {
		return w.options.Pause
	}
	return min(w.options.Pause<<min(attempt, 10), maxPause)
}

// pause waits; false if the load ended meanwhile.
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
