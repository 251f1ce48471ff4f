package command

import (
	"context"
	"fmt"
	"io"
	"time"

	"benchbook/benchload/bars"
	"benchbook/benchload/dataset/kline"
	"benchbook/benchload/event"
	"benchbook/benchload/measure"
	"benchbook/benchload/request"
	"benchbook/benchload/target"
)

// barsLoad stores a kline dataset, whole days of a stock at a time.
func barsLoad(ctx context.Context, arguments []string, out, _ io.Writer) error {
	flags := request.NewFlags("bars-load",
		"Stores the dataset kline, in the order of the published load: all days of a stock, then the next stock. "+
			"In mysql and postgres a bar is a row of the published table; in redis a day of a stock is one packed field of a hash. "+
			"It writes what happened as JSON lines (docs/benchload-events.md).")
	extents := addExtent(flags, "kline")
	stores := addStore(flags)
	workers := flags.Count("workers", "Connections, each with one write on its way.", 1, 1, 4096)
	batch := flags.Count("batch-rows", "Rows of a write, rounded down to whole days of 240, but at least one.", 5000, 1, 1<<22)
	record := addRecord(flags)
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	extent, err := extents.extent()
	if err != nil {
		return err
	}
	days := bars.NewDays(extent)
	store, err := stores.store(days.Rows())
	if err != nil {
		return err
	}
	file, err := recordTo(*record)
	if err != nil {
		return err
	}
	defer file.Close() // a failure is told where it is closed first
	events := event.NewWriter(out)
	daysOfWrite := max(*batch/kline.DayBars, 1)
	events.Start(event.Start{
		Workload: "load", TimeUnixNS: time.Now().UnixNano(), Target: store.Name(), Workers: int(*workers),
		BatchRows: daysOfWrite * kline.DayBars, Rows: days.Rows(), Program: "benchload " + Version,
	})
	if failure := target.AsFailure(store.Prepare()); failure != nil {
		events.Error(event.Error{Kind: string(failure.Kind), Status: failure.Status, Message: failure.Message, Operations: 1})
		events.Summary(event.Summary{Workload: "load", Errors: 1, RowsUnsent: days.Rows(), Bottleneck: "server"})
		return errReported
	}
	run := measure.NewRun(events, "write", int(*workers), false).Keep(file)
	run.Start()
	begun := time.Now()
	made, ended := bars.Load(ctx, days, store, run, int(*workers), daysOfWrite)
	worked := time.Since(begun) * time.Duration(*workers)
	summary := run.Stop()
	summary.Workload = "load"
	summary.GeneratorStallNS = int64(made)
	summary.RowsUnsent = days.Rows() - summary.Rows - summary.RowsRefused
	if made > worked/2 {
		summary.Bottleneck = "generator"
	}
	lost := recorded(file, &summary)
	events.Summary(summary)
	switch {
	case lost != nil:
		return lost
	case events.Err() != nil:
		return fmt.Errorf("the events could not be written: %w", events.Err())
	case ctx.Err() != nil:
		return fmt.Errorf("the load was interrupted after %d rows", summary.Rows)
	case ended:
		return errReported
	}
	return nil
}
