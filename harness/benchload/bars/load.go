package bars

import (
	"context"
	"sync"
	"time"

	"benchbook/benchload/measure"
	"benchbook/benchload/target"
)

// barValues is the number of values that a bar counts for.
const barValues = Fields

// Load stores all days with so many workers, so many days a write. It gives the
// time that workers made bars instead of sending them, and whether it ended early.
func Load(ctx context.Context, days *Days, store Store, run *measure.Run, workers int, daysOfWrite int64) (made time.Duration, ended bool) {
	outer := ctx
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var done sync.WaitGroup
	var lock sync.Mutex
	for i := range workers {
		client := store.Client()
		defer context.AfterFunc(outer, client.Interrupt)()
		done.Add(1)
		go func() {
			defer done.Done()
			defer client.Close()
			spent := loadWith(ctx, cancel, days, client, run.Recorder(i), daysOfWrite)
			lock.Lock()
			made += spent
			lock.Unlock()
		}()
	}
	done.Wait()
	return made, ctx.Err() != nil
}

func loadWith(ctx context.Context, stop func(), days *Days, client Client, recorder *measure.Recorder, most int64) (made time.Duration) {
	maker := days.Maker()
	var bars []Bar
	for ctx.Err() == nil {
		begun := time.Now()
		stock, day, count := days.Take(most)
		if count == 0 {
			return made
		}
		bars = maker.Append(bars[:0], stock, day, count)
		made += time.Since(begun)
		begun = time.Now()
		rows := int64(len(bars))
		failure := target.AsFailure(client.Write(bars))
		at := measure.Times{Intended: begun, Begun: begun, Ended: time.Now()}
		if failure != nil {
			failure.Refused = rows
			recorder.Failed(failure, measure.Counts{}, at)
			stop()
			return made
		}
		recorder.Done(measure.Counts{Rows: rows, Values: rows * barValues, Bytes: rows * Size, WireBytes: rows * Size}, at)
	}
	return made
}
