package command

import (
	"strconv"
	"strings"
	"time"

	"benchbook/benchload/dataset"
	"benchbook/benchload/dataset/kline"
	"benchbook/benchload/request"
	"benchbook/benchload/walk"
)

// extentFlags are the flags that say what data is meant.
type extentFlags struct {
	kind                   string
	flags                  *request.Flags
	seed                   *uint64
	scale, first, count    *int64
	start, end             *int64
	windowStart, windowEnd *int64
	interval               *time.Duration
	table                  *string
	days                   *int64  // of a kline dataset
	tags                   *string // of an inch dataset
	fields                 *int64  // of an inch dataset
}

// maxHostTicks is the largest dataset, as hosts times ticks.
const maxHostTicks = 1 << 48

// addExtent adds the flags of a dataset to a command.
func addExtent(flags *request.Flags, kind string) *extentFlags {
	const most = 1 << 40
	e := &extentFlags{
		kind:        kind,
		flags:       flags,
		seed:        flags.Seed("seed", "What all values follow from."),
		scale:       flags.Count("scale", "How many series there are: hosts, trucks, stocks.", 1, 1, most),
		start:       flags.Time("start", "When the dataset begins."),
		end:         flags.Time("end", "When the dataset ends; this moment is no part of it."),
		interval:    flags.Duration("interval", "The time from one tick to the next.", 10*time.Second),
		windowStart: flags.Time("window-start", "From when on to make rows, of the same dataset; its start if it is left out."),
		windowEnd:   flags.Time("window-end", "Up to when to make rows, of the same dataset; its end if it is left out."),
		first:       flags.Count("series-first", "The first series to make rows of.", 0, 0, most),
		count:       flags.Count("series-count", "How many series to make rows of; all from the first on if it is left out.", 0, 1, most),
		table:       flags.Choice("table", "Makes only the rows of this table.", "", kindOf(kind).tables...),
	}
	flags.Require("seed", "scale", "start")
	if kind == "inch" {
		e.tags = flags.Text("tags", "How many values each tag has; every combination is a series.", "", "numbers with commas between them, whose product is --scale, such as 100,10,10")
		e.fields = flags.Count("fields", "Fields of a row.", 1, 1, 1000)
		flags.Require("tags")
	}
	if kind == "kline" {
		e.days = flags.Count("days", "Working days, in place of --end.", 500, 1, 1<<20)
	} else {
		flags.Require("end")
	}
	return e
}

// extent checks the flags against each other.
func (e *extentFlags) extent() (dataset.Extent, error) {
	x := dataset.Extent{
		Seed: *e.seed, Scale: *e.scale, Start: *e.start, End: *e.end, Interval: int64(*e.interval),
		WindowStart: *e.start, WindowEnd: *e.end, SeriesFirst: *e.first, SeriesCount: *e.scale - *e.first,
		Table: *e.table,
	}
	if e.kind == "kline" {
		if err := e.trading(&x); err != nil {
			return x, err
		}
	}
	if e.kind == "inch" {
		if err := e.combinations(&x); err != nil {
			return x, err
		}
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
	// Bytes are counted in 63 bits, and a row has about half a kilobyte.
	ticks := (x.End - x.Start) / x.Interval
	if ticks > 0 && x.Scale > maxHostTicks/ticks {
		return x, request.Mistakef("--scale %d with %d ticks are more rows than can be counted; give a smaller --scale, a longer --interval or an earlier --end.",
			x.Scale, ticks)
	}
	return x, nil
}

// trading sets the clock of a kline dataset, which counts working days instead
// of an end.
func (e *extentFlags) trading(x *dataset.Extent) error {
	if e.flags.Given("interval") {
		return request.Mistakef("--interval is given, but a kline dataset has a bar a minute; leave it out.")
	}
	if e.flags.Given("days") && e.flags.Given("end") {
		return request.Mistakef("--days and --end are both given; leave one of them out.")
	}
	calendar := kline.NewCalendar(x.Start)
	x.Clock = calendar
	if !e.flags.Given("end") {
		if *e.days > (1<<63-1-x.Start)/int64(48*time.Hour) {
			return request.Mistakef("--days %d goes beyond the year 2262; give fewer.", *e.days)
		}
		x.End = calendar.End(*e.days)
		x.WindowEnd = x.End
	}
	return nil
}

// combinations sets the tags of an inch dataset.
func (e *extentFlags) combinations(x *dataset.Extent) error {
	product := int64(1)
	for text := range strings.SplitSeq(*e.tags, ",") {
		values, err := strconv.ParseInt(text, 10, 32)
		if err != nil || values < 1 {
			return request.Mistakef("--tags %s: %q is not a whole number from 1 on; write it as 100,10,10.", *e.tags, text)
		}
		x.Tags = append(x.Tags, values)
		if product *= values; product > x.Scale {
			break
		}
	}
	if product != x.Scale {
		return request.Mistakef("--tags %s has another number of combinations than --scale %d; make the product the scale.", *e.tags, x.Scale)
	}
	x.Fields = *e.fields
	return nil
}

// clock writes a time as the flags take it.
func clock(ns int64) string { return time.Unix(0, ns).UTC().Format(time.RFC3339Nano) }
