package command

import (
	"strings"
	"time"

	"benchbook/benchload/dataset"
	"benchbook/benchload/dataset/devops"
	"benchbook/benchload/request"
	"benchbook/benchload/walk"
)

// datasets are the names of the generators.
var datasets = []string{"devops"}

// extentFlags are the flags that say what data is meant.
type extentFlags struct {
	flags                  *request.Flags
	seed                   *uint64
	scale, first, count    *int64
	start, end             *int64
	windowStart, windowEnd *int64
	interval               *time.Duration
	table                  *string
}

// addExtent adds the dataset's flags to a command.
func addExtent(flags *request.Flags) *extentFlags {
	const most = 1 << 40
	e := &extentFlags{
		flags:       flags,
		seed:        flags.Seed("seed", 0),
		scale:       flags.Count("scale", 1, 1, most),
		start:       flags.Time("start"),
		end:         flags.Time("end"),
		interval:    flags.Duration("interval", 10*time.Second),
		windowStart: flags.Time("window-start"),
		windowEnd:   flags.Time("window-end"),
		first:       flags.Count("series-first", 0, 0, most),
		count:       flags.Count("series-count", 0, 1, most),
		table:       flags.Choice("table", "", devops.TableNames()...),
	}
	flags.Require("seed", "scale", "start", "end")
	return e
}

// takeDataset takes the name of the dataset off the arguments.
func takeDataset(command string, arguments []string) (rest []string, err error) {
	if len(arguments) == 0 || strings.HasPrefix(arguments[0], "-") {
		return nil, request.Mistakef("%s needs the name of a dataset first, one of %s; for example: benchload %s devops --seed 1 …",
			command, strings.Join(datasets, ", "), command)
	}
	for _, name := range datasets {
		if arguments[0] == name {
			return arguments[1:], nil
		}
	}
	return nil, request.Unknown("The dataset", arguments[0], datasets)
}

// extent checks the flags against each other.
func (e *extentFlags) extent() (dataset.Extent, error) {
	x := dataset.Extent{
		Seed: *e.seed, Scale: *e.scale, Start: *e.start, End: *e.end, Interval: int64(*e.interval),
		WindowStart: *e.start, WindowEnd: *e.end, SeriesFirst: *e.first, SeriesCount: *e.scale - *e.first,
		Table: *e.table,
	}
	if x.End <= x.Start {
		return x, request.Mistakef("--end is %s, which is not after --start %s; give a later --end.", clock(x.End), clock(x.Start))
	}
	if (x.End-x.Start)/x.Interval >= 1<<walk.TickBits {
		return x, request.Mistakef("--interval %s cuts the time from --start to --end into more than %d ticks; give a longer --interval.",
			*e.interval, int64(1)<<walk.TickBits)
	}
	if e.flags.Given("window-start") {
		x.WindowStart = *e.windowStart
	}
	if e.flags.Given("window-end") {
		x.WindowEnd = *e.windowEnd
	}
	if x.WindowStart < x.Start || x.WindowEnd > x.End || x.WindowEnd < x.WindowStart {
		return x, request.Mistakef("the window %s … %s is not inside the dataset %s … %s; move --window-start or --window-end.",
			clock(x.WindowStart), clock(x.WindowEnd), clock(x.Start), clock(x.End))
	}
	if *e.first >= *e.scale {
		return x, request.Mistakef("--series-first is %d, but --scale %d has only the series 0 to %d; give a smaller one.",
			*e.first, *e.scale, *e.scale-1)
	}
	if e.flags.Given("series-count") {
		if *e.first+*e.count > *e.scale {
			return x, request.Mistakef("--series-count is %d, but from --series-first %d on there are only %d; give at most that.",
				*e.count, *e.first, *e.scale-*e.first)
		}
		x.SeriesCount = *e.count
	}
	return x, nil
}

// generator makes the generator of the dataset.
func newGenerator(extent dataset.Extent) dataset.Generator { return devops.New(extent) }

// clock writes a time as the flags take it.
func clock(ns int64) string { return time.Unix(0, ns).UTC().Format(time.RFC3339Nano) }
