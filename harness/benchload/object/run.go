package object

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"benchbook/benchload/dataset/blob"
	"benchbook/benchload/drive"
	"benchbook/benchload/event"
	"benchbook/benchload/measure"
	"benchbook/benchload/operation"
	"benchbook/benchload/target"
)

// Work is a run of operations on objects.
type Work struct {
	Set        *blob.Set
	Store      Store
	Mix        Mix
	Operations int64 // to be done; zero for one an object
	Batch      int   // objects of a put
	Pace       drive.Options
	Record     *operation.File // keeps single operations; nil for none
	Kept       []Entry         // what the store has to have; afterwards what it has to have then
}

// connectionFailures in a row, or so many failures in all, end the work.
const (
	connectionFailures = 3
	mostFailures       = 1000
)

// worker does operations with one client.
type worker struct {
	work    *Work
	client  Client
	share   *share
	runs    [3]*measure.Recorder
	items   []Item
	content [][]byte
	got     []byte
	failed  int
	wrong   *atomic.Int64
	stop    func()
}

// Run does the work and writes the events but for start and summary.
func (w *Work) Run(ctx context.Context, events *event.Writer) (event.Summary, error) {
	open := w.Pace.Rate > 0
	first := int64(0)
	for _, entry := range w.Kept {
		first = max(first, entry.Number+1)
	}
	end := int64(endless)
	if w.Mix.single() && w.Pace.Duration == 0 && w.Operations == 0 {
		end = first + w.Set.Count
	}
	dealt := shares(w.Mix, w.Pace.Workers, w.Batch, w.Set.Seed, w.Kept, first, end)
	workers := make([]*worker, w.Pace.Workers)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var wrong atomic.Int64
	var runs [3]*measure.Run
	for kind := range runs {
		if w.Mix[kind] > 0 || Kind(kind) == Put && !w.Mix.single() {
			runs[kind] = measure.NewRun(events, Kinds[kind], w.Pace.Workers, open).Keep(w.Record)
		}
	}
	for i := range workers {
		client, err := w.Store.Client()
		if err != nil {
			return event.Summary{}, fmt.Errorf("the store cannot be reached: %w", err)
		}
		defer client.Close()
		defer context.AfterFunc(ctx, client.Interrupt)()
		workers[i] = &worker{work: w, client: client, share: dealt[i], wrong: &wrong, stop: cancel, content: make([][]byte, w.Batch)}
		for kind, run := range runs {
			if run != nil {
				workers[i].runs[kind] = run.Recorder(i)
			}
		}
	}
	var began time.Time
	for _, run := range runs {
		if run != nil {
			run.Start()
			began = run.Began()
		}
	}
	offered := w.drive(ctx, workers, began)
	summary := total(runs)
	if open {
		summary.OfferedPerSecond = &offered
		summary.Saturated = summary.AchievedPerSecond < 0.99*offered
	}
	w.Kept = w.Kept[:0]
	for _, one := range dealt {
		w.Kept = append(w.Kept, one.live...)
	}
	return summary, nil
}

// drive has all workers work, at the pace that is asked for; it gives what was offered.
func (w *Work) drive(ctx context.Context, workers []*worker, began time.Time) float64 {
	operations := w.Operations
	if operations == 0 {
		operations = max(int64(len(w.Kept)), 1)
		if w.Mix.single() && w.Mix[Get] == 0 {
			// Each worker meets the end of its share by one more try.
			operations += int64(w.Pace.Workers)
			if w.Mix[Put] > 0 {
				operations += (w.Set.Count + int64(w.Batch) - 1) / int64(w.Batch)
			}
		}
	}
	arrivals := drive.NewSchedule(operations, w.Pace)
	var next atomic.Int64
	var done sync.WaitGroup
	for _, one := range workers {
		done.Add(1)
		go func() {
			defer done.Done()
			for ctx.Err() == nil {
				intended := time.Time{}
				if w.Pace.Rate > 0 {
					_, offset, more := arrivals.Next()
					if !more {
						return
					}
					if intended = began.Add(offset); !drive.WaitUntil(ctx, intended) {
						return
					}
				} else if w.Pace.Duration > 0 && time.Since(began) >= w.Pace.Duration ||
					w.Pace.Duration == 0 && next.Add(1) > operations {
					return
				}
				if !one.step(intended) {
					return
				}
			}
		}()
	}
	done.Wait()
	return arrivals.Offered()
}

// step does one operation; false if there is nothing more for this worker to do.
func (w *worker) step(intended time.Time) bool {
	kind, items, more := w.share.choose(w.items)
	if !more {
		return false
	}
	w.items = items
	size := int64(0)
	for i := range items {
		items[i].Key = string(w.work.Set.AppendKey(nil, items[i].Number))
		if kind == Put {
			w.content[i] = w.work.Set.Object(w.content[i], items[i].Number)
			items[i].Content = w.content[i]
			size += int64(len(w.content[i]))
		}
	}
	begun := time.Now()
	if intended.IsZero() {
		intended = begun
	}
	err := w.do(kind)
	at := measure.Times{Intended: intended, Begun: begun, Ended: time.Now()}
	if err == nil && kind == Get {
		size = int64(len(w.got))
		w.content[0] = w.work.Set.Object(w.content[0], items[0].Number)
		if !bytes.Equal(w.got, w.content[0]) {
			err = &target.Failure{Kind: target.BadAnswer, Message: "an object has other bytes than were put"}
		}
	}
	if err != nil {
		return w.fail(kind, err, at)
	}
	w.failed = 0
	w.share.done(kind, items)
	w.runs[kind].Done(measure.Counts{Rows: int64(len(items)), Bytes: size, WireBytes: size}, at)
	return true
}

// do does the operation.
func (w *worker) do(kind Kind) (err error) {
	switch kind {
	case Put:
		return w.client.Put(w.items)
	case Get:
		w.got, err = w.client.Get(&w.items[0], w.got[:0])
		return err
	case Delete:
		return w.client.Delete(&w.items[0])
	}
	return nil
}

// fail takes note of an operation that failed; false if the work should end.
func (w *worker) fail(kind Kind, err error, at measure.Times) bool {
	failure := refused(err)
	failure.Refused = int64(len(w.items))
	w.runs[kind].Failed(failure, measure.Counts{}, at)
	w.share.failed(kind)
	w.failed++
	if failure.Kind == target.Connection && w.failed >= connectionFailures || w.wrong.Add(1) >= mostFailures {
		w.stop()
		return false
	}
	return true
}

// total ends all runs and sums them up.
func total(runs [3]*measure.Run) event.Summary {
	var all event.Summary
	for _, run := range runs {
		if run == nil {
			continue
		}
		one := run.Stop()
		all.DurationNS = max(all.DurationNS, one.DurationNS)
		all.ClientCPUNS = max(all.ClientCPUNS, one.ClientCPUNS)
		all.Operations += one.Operations
		all.Rows += one.Rows
		all.Bytes += one.Bytes
		all.WireBytes += one.WireBytes
		all.Errors += one.Errors
		all.RowsRefused += one.RowsRefused
	}
	all.Bottleneck = "server"
	if seconds := float64(all.DurationNS) / 1e9; seconds > 0 {
		all.OperationsPerSecond = float64(all.Operations) / seconds
		all.AchievedPerSecond = all.OperationsPerSecond
		all.RowsPerSecond = float64(all.Rows) / seconds
	}
	return all
}
