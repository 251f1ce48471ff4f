// Package drive asks queries: one after the other (a closed loop), or at a rate
// whatever the server does (an open loop).
package drive

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"benchbook/benchload/measure"
	"benchbook/benchload/target"
)

// Options of a run of queries.
type Options struct {
	Workers  int
	Duration time.Duration // asks the queries again and again; zero for each once
	Rate     float64       // operations a second of an open loop; zero for a closed one
	Poisson  bool          // arrivals of an open loop
	Seed     uint64        // of the arrivals
}

// connectionFailures is after how many failures in a row to connect a worker
// takes the server for gone.
const connectionFailures = 3

// Warm asks the first count queries without a clock, over again if there are fewer.
func Warm(ctx context.Context, texts [][]byte, count int64, t target.Target, run *measure.Run, workers int) {
	closed(ctx, t, run, workers, func(n int64) ([]byte, bool) {
		if n >= count {
			return nil, false
		}
		return texts[n%int64(len(texts))], true
	})
}

// Run asks the queries, and gives the arrivals a second of an open loop: with
// Poisson arrivals their number is random, so it differs from the rate.
func Run(ctx context.Context, texts [][]byte, t target.Target, run *measure.Run, options Options) (offered float64) {
	if options.Rate > 0 {
		return open(ctx, texts, t, run, options)
	}
	closed(ctx, t, run, options.Workers, func(n int64) ([]byte, bool) {
		if options.Duration == 0 {
			if n >= int64(len(texts)) {
				return nil, false
			}
		} else if time.Since(run.Began()) >= options.Duration {
			return nil, false
		}
		return texts[n%int64(len(texts))], true
	})
	return 0
}

// closed lets each worker ask the next query as soon as it has an answer.
func closed(ctx context.Context, t target.Target, run *measure.Run, workers int, query func(n int64) ([]byte, bool)) {
	var next atomic.Int64
	each(ctx, t, run, workers, func(a *asker) bool {
		text, more := query(next.Add(1) - 1)
		if !more {
			return false
		}
		return a.ask(text, time.Now())
	})
}

// each runs a step on every worker until it says that there is no more to do.
func each(ctx context.Context, t target.Target, run *measure.Run, workers int, step func(*asker) bool) {
	outer := ctx
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var done sync.WaitGroup
	for i := range workers {
		a := &asker{client: t.Client(), recorder: run.Recorder(i), ctx: ctx, stop: cancel}
		defer context.AfterFunc(outer, a.client.Interrupt)()
		done.Add(1)
		go func() {
			defer done.Done()
			defer a.client.Close()
			for ctx.Err() == nil && step(a) {
			}
		}()
	}
	done.Wait()
}
