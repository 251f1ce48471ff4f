// Package drive does the operations of a workload: the one loop of all workloads, closed
// (as soon as a worker is free) or open (at a rate).
//
// A workload implements [Client]: Next chooses an operation, outside the measured time,
// and Do does it. [Clients] gives each worker a connection of its own. [Pace] says how many
// workers there are and when their operations begin, [Rule] what happens after a failure.
// [Work.Run] does all of it and measures through package measure, which writes the events
// of docs/benchload-events.md.
//
// Latency is counted from the intended start in an open loop, so that a slow system cannot
// hide its queue, and never contains the choice of the operation or a pause before a retry.
package drive

import (
	"context"
	"fmt"
	"sync"
	"time"

	"benchbook/benchload/event"
	"benchbook/benchload/measure"
	"benchbook/benchload/system"
)

// Client does the operations of one worker over one connection, one after the other.
// All but Interrupt belong to one goroutine.
type Client interface {
	// Next prepares the operation of this number, outside its measured time; false if
	// none is left. Numbers count the operations of all workers from zero.
	Next(number int64) bool
	// Do sends the prepared operation and waits for its whole answer. After a failure
	// it may be called again. What of a failed operation succeeded is in the result.
	Do() (Result, error)
	// Ended notes the outcome of the operation; failure is nil if it succeeded.
	Ended(failure *system.Failure)
	// Interrupt ends a waiting operation and all later ones; any goroutine may call it.
	Interrupt()
	// Close closes the connection.
	Close()
}

// Result is what an operation did.
type Result struct {
	Kind   int // of operation, as the run numbers them
	Counts measure.Counts
	Ended  time.Time // when its answer was complete; zero for when Do returned
}

// Work is a workload.
type Work struct {
	Client func(worker int) (Client, error)
	Stop   func() // makes waiting calls of Next return; nil if they never wait
	Pace   Pace
	Rule   Rule
}

// Clients gives each worker a connection of its own to a system; client adds what
// chooses its operations.
func Clients[C system.Conn](to system.System[C], client func(conn C, worker int) Client) func(worker int) (Client, error) {
	return func(worker int) (Client, error) {
		conn, err := to.Connect()
		if err != nil {
			return nil, fmt.Errorf("cannot connect to %s: %w", to.Name(), err)
		}
		if r, ok := any(conn).(system.Resending); ok {
			return resending{client(conn, worker), r}, nil
		}
		return client(conn, worker), nil
	}
}

// resending is a client whose connection sends some requests again.
type resending struct {
	Client
	system.Resending
}

// worker drives one client.
type worker struct {
	work        *Work
	client      Client
	recorder    *measure.Recorder
	arrivals    *arrivals
	resent      func() int64 // requests that the connection sent again; nil if it never does
	end         func()       // ends the workload for all workers
	failures    *failureCount
	unreachable int           // attempts in a row that did not reach the server
	stall       time.Duration // from the end of an operation until the next was prepared
	worked      time.Duration
}

// Run connects, starts the clock of a run, does all operations and stops the clock.
// It reports whether the workload was ended before all of its work was done.
func (w *Work) Run(ctx context.Context, run *measure.Run) (summary event.Summary, ended bool, err error) {
	outer := ctx
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if w.Stop != nil {
		defer context.AfterFunc(ctx, w.Stop)()
	}
	var failures failureCount
	workers := make([]*worker, w.Pace.Workers)
	for i := range workers {
		client, err := w.Client(i)
		if err != nil {
			return event.Summary{}, true, err
		}
		defer client.Close()
		// A user who stops a workload does not wait for the server; a workload that
		// ends itself lets the other operations complete.
		defer context.AfterFunc(outer, client.Interrupt)()
		workers[i] = &worker{work: w, client: client, recorder: run.Recorder(i), end: cancel, failures: &failures}
		if r, ok := client.(resending); ok {
			workers[i].resent = r.Resent
		}
	}
	run.Start(w.Pace.Duration)
	arrivals := newArrivals(w.Pace, run.Began())
	var done sync.WaitGroup
	for _, one := range workers {
		one.arrivals = arrivals
		done.Go(func() { one.run(ctx) })
	}
	done.Wait()
	summary = run.Stop()
	stall, worked := time.Duration(0), time.Duration(0)
	for _, one := range workers {
		stall += one.stall
		worked += one.worked
	}
	summary.GeneratorStallNS = int64(stall)
	// Workers that wait more than half of their time for their next operation would be
	// faster with a faster generator.
	if stall > worked/2 {
		summary.Bottleneck = "generator"
	}
	if w.Pace.Rate > 0 {
		offered := arrivals.offered()
		summary.OfferedPerSecond = &offered
		reached := float64(summary.Operations) / time.Duration(summary.DurationNS).Seconds()
		summary.Saturated = reached < 0.99*offered
	}
	return summary, ctx.Err() != nil, nil
}

// run does operations until none is left or the workload ends.
func (w *worker) run(ctx context.Context) {
	began := time.Now()
	defer func() { w.worked = time.Since(began) }()
	ended := began // of the operation before: reading the clock again would cost as much as all else here
	tick := ticker{w.work.Pace.Tick, w.arrivals.began}
	for ctx.Err() == nil {
		number, intended, more := w.arrivals.next(ctx, tick.after(ended))
		if !more {
			return
		}
		more = w.client.Next(number)
		begun := time.Now()
		w.stall += begun.Sub(ended)
		if !more {
			return
		}
		due := intended
		if intended.IsZero() { // a closed loop
			due = tick.after(begun)
		}
		if due != begun {
			if !waitUntil(ctx, due) {
				return
			}
			begun = time.Now()
		}
		if intended.IsZero() {
			intended = begun
			tick.begun(begun)
		}
		ended = w.operate(ctx, intended, begun)
	}
}

// operate does the prepared operation until it succeeds or is given up, and returns when
// that was. Its latency is that of the last attempt: pauses between attempts are no
// service of the server.
func (w *worker) operate(ctx context.Context, intended, begun time.Time) time.Time {
	var answered *system.Failure // by the server, at an earlier attempt
	for attempt := 0; ; attempt, begun = attempt+1, time.Now() {
		result, err := w.client.Do()
		if result.Ended.IsZero() {
			result.Ended = time.Now()
		}
		if w.resent != nil {
			w.recorder.Retried(result.Kind, w.resent())
		}
		at := measure.Times{Intended: intended, Begun: begun, Ended: result.Ended}
		if err == nil {
			w.unreachable = 0
			w.arrivals.rows.Add(result.Counts.Rows)
			w.client.Ended(nil)
			w.recorder.Done(result.Kind, result.Counts, at)
			return result.Ended
		}
		failure := system.AsFailure(err)
		if failure.Kind == system.Server {
			answered = failure
		}
		if failure.Kind == system.Connection {
			w.unreachable++
		} else {
			w.unreachable = 0
		}
		if wait, again := w.work.Rule.retry(failure, attempt, w.unreachable); again && pause(ctx, wait) {
			w.recorder.Retried(result.Kind, 1)
			continue
		}
		if answered != nil && ctx.Err() != nil {
			// An interrupted attempt shows nothing about the server; its earlier answer does.
			answered.Refused = failure.Refused
			failure = answered
		}
		w.arrivals.rows.Add(result.Counts.Rows + failure.Refused)
		w.client.Ended(failure)
		w.recorder.Failed(result.Kind, failure, result.Counts, at)
		if w.work.Rule.ends(w.unreachable, w.failures.add()) {
			w.end()
		}
		return result.Ended
	}
}
