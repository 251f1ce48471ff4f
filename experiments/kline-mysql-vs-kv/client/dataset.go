package main

import (
	"time"

	"benchbook/benchload/command"
	"benchbook/benchload/dataset"
	"benchbook/benchload/program"
	"benchbook/experiments/kline-mysql-vs-kv/client/kline"
)

// klineFlags are those of the dataset kline, whose clock counts working days.
type klineFlags struct {
	program.Fleet
	End  *command.Instant `placeholder:"TIME" help:"When the dataset ends, exclusively; instead of --days."`
	Days *int64           `range:"1:1048576" placeholder:"N" help:"Working days, instead of --end. Default: 500."`
}

func (klineFlags) Kind() string { return "kline" }

func (f klineFlags) Extent() (dataset.Extent, error) {
	calendar := kline.NewCalendar(int64(f.Start))
	x := dataset.Extent{Interval: int64(time.Minute), Clock: calendar}
	switch {
	case f.End != nil && f.Days != nil:
		return x, command.Mistakef("--days and --end are both given; leave one of them out.")
	case f.End != nil:
		x.End = int64(*f.End)
	default:
		days := int64(500)
		if f.Days != nil {
			days = *f.Days
		}
		if days > (1<<63-1-int64(f.Start))/int64(48*time.Hour) {
			return x, command.Mistakef("--days %d goes beyond the year 2262; give fewer.", days)
		}
		x.End = calendar.End(days)
	}
	err := f.Fill(&x, []string{kline.TableName})
	return x, err
}

func (klineFlags) Generator(e dataset.Extent) dataset.Generator { return kline.New(e) }
