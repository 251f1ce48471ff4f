// Package load sends a dataset to a target in batches.
package load

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"benchbook/benchload/measure"
	"benchbook/benchload/target"
)

// Options of a load.
type Options struct {
	Workers   int
	Retries   int           // of one batch
	Pause     time.Duration // before the first retry; doubled for each more
	KeepGoing bool          // go on after rows were refused
}

// Batch is rows to be sent, as a source gives them.
type Batch struct {
	Rows   int64
	Values int64
	Size   int64  // in bytes, before compression
	Bytes  []byte // as they are sent
	Gzip   bool   // they are compressed
	piece  any    // what the source wants back
}

// Source gives batches to many goroutines.
type Source interface {
	// Next waits for a batch; false at the end.
	Next() (Batch, bool)
	// Release gives its memory back.
	Release(batch Batch)
	// Rows is how many there are; zero if that is not known.
	Rows() int64
	// Stop makes Next give no more.
	Stop()
	// Err is what went wrong with the source itself.
	Err() error
}

// Result is what a load adds to its summary.
type Result struct {
	Stall  time.Duration // that workers waited for batches, summed up
	Worked time.Duration // from the beginning to the end of each worker, summed up
	Ended  bool          // before all rows were sent
	Reason error
}

// errStopped ends a load that a refused batch or a missing server has ended.
var errStopped = errors.New("the load was ended")

// Run loads until the source is empty.
func Run(ctx context.Context, source Source, t target.Target, run *measure.Run, options Options) Result {
	outer := ctx
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(ctx, source.Stop)()
	var stall, worked atomic.Int64
	var workers sync.WaitGroup
	for i := range options.Workers {
		w := &worker{
			options: options, source: source, client: t.Client(), recorder: run.Recorder(i),
			stop: func() { cancel(errStopped) },
		}
		// A user who stops the load does not wait for a server; a load that ends
		// itself lets the other batches be acknowledged.
		defer context.AfterFunc(outer, w.client.Interrupt)()
		workers.Add(1)
		go func() {
			defer workers.Done()
			begun := time.Now()
			stall.Add(int64(w.work(ctx)))
			worked.Add(int64(time.Since(begun)))
		}()
	}
	workers.Wait()
	return Result{Stall: time.Duration(stall.Load()), Worked: time.Duration(worked.Load()), Ended: ctx.Err() != nil, Reason: context.Cause(ctx)}
}
