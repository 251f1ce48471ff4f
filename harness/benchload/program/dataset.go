package program

import (
	"slices"
	"time"

	"benchbook/benchload/command"
	"benchbook/benchload/dataset"
	"benchbook/benchload/dataset/devops"
	"benchbook/benchload/dataset/frames"
	"benchbook/benchload/dataset/hits"
	"benchbook/benchload/dataset/iot"
)

// DatasetFlags are the flags of one kind of dataset that consists of ticks, series and
// tables. A new one adds a type here and an entry to the commands that take it.
type DatasetFlags interface {
	// Kind returns the name of the dataset.
	Kind() string
	// Extent checks the flags against each other.
	Extent() (dataset.Extent, error)
	// Generator creates the generator of an extent.
	Generator(dataset.Extent) dataset.Generator
}

// devopsFlags are those of the dataset devops.
type devopsFlags struct {
	Fleet
	Clock
}

func (devopsFlags) Kind() string { return "devops" }

func (f devopsFlags) Extent() (dataset.Extent, error) { return f.Clocked(f.Clock, tablesOf[f.Kind()]) }

func (devopsFlags) Generator(e dataset.Extent) dataset.Generator { return devops.New(e) }

// iotFlags are those of the dataset iot.
type iotFlags struct {
	Fleet
	Clock
}

func (iotFlags) Kind() string { return "iot" }

func (f iotFlags) Extent() (dataset.Extent, error) { return f.Clocked(f.Clock, tablesOf[f.Kind()]) }

func (iotFlags) Generator(e dataset.Extent) dataset.Generator { return iot.New(e) }

// framesFlags are those of the dataset frames, whose rows are series with one tick.
type framesFlags struct {
	Seed   uint64 `required:"" placeholder:"N" help:"The number that all values follow from."`
	Rows   int64  `required:"" range:"1:1000000000" placeholder:"N" help:"Rows of the table."`
	Groups int64  `default:"100" range:"1:1000000" placeholder:"N" help:"Values of id1, id2, id4 and id5; id3 and id6 have --rows / --groups. Default: ${default}."`
}

func (framesFlags) Kind() string { return "frames" }

func (f framesFlags) Extent() (dataset.Extent, error) {
	if f.Groups > f.Rows {
		return dataset.Extent{}, command.Mistakef("--groups %d is above --rows %d; give fewer.", f.Groups, f.Rows)
	}
	x, err := rowsExtent(Fleet{Seed: f.Seed, Scale: f.Rows}, f.Kind())
	x.Tags = []int64{f.Groups}
	return x, err
}

func (framesFlags) Generator(e dataset.Extent) dataset.Generator { return frames.New(e) }

// joinFlags are those of the dataset join-frames.
type joinFlags struct {
	Seed  uint64 `required:"" placeholder:"N" help:"The number that all values follow from."`
	Rows  int64  `required:"" range:"10:1000000000" placeholder:"N" help:"Rows of x and of big; small has a millionth and medium a thousandth of them, but at least 10."`
	Table string `placeholder:"NAME" help:"Makes only the rows of this table: x, small, medium or big."`
}

func (joinFlags) Kind() string { return "join-frames" }

func (f joinFlags) Extent() (dataset.Extent, error) {
	return rowsExtent(Fleet{Seed: f.Seed, Scale: f.Rows, Table: f.Table}, f.Kind())
}

func (joinFlags) Generator(e dataset.Extent) dataset.Generator { return frames.NewJoins(e) }

// rowsExtent is the extent of a dataset whose rows are series with one tick.
func rowsExtent(fleet Fleet, kind string) (dataset.Extent, error) {
	x := dataset.Extent{End: int64(time.Second), Interval: int64(time.Second)}
	err := fleet.Fill(&x, tablesOf[kind])
	return x, err
}

// hitsFlags are those of the dataset hits, whose rows are series with one tick.
type hitsFlags struct {
	Seed uint64 `required:"" placeholder:"N" help:"The number that all values follow from."`
	Rows int64  `required:"" range:"1:1000000000" placeholder:"N" help:"Rows of the table."`
}

func (hitsFlags) Kind() string { return "hits" }

func (f hitsFlags) Extent() (dataset.Extent, error) {
	return rowsExtent(Fleet{Seed: f.Seed, Scale: f.Rows}, f.Kind())
}

func (hitsFlags) Generator(e dataset.Extent) dataset.Generator { return hits.New(e) }

// Clock are the flags of a dataset with a tick per interval.
type Clock struct {
	End      command.Instant `required:"" placeholder:"TIME" help:"When the dataset ends, exclusively."`
	Interval time.Duration   `default:"10s" placeholder:"LENGTH" help:"The time from one tick to the next. Default: ${default}."`
}

// Fleet are those of every dataset.
type Fleet struct {
	Seed        uint64           `required:"" placeholder:"N" help:"The number that all values follow from."`
	Scale       int64            `required:"" range:"1:" placeholder:"N" help:"Number of series: hosts, trucks or stocks."`
	Start       command.Instant  `required:"" placeholder:"TIME" help:"When the dataset begins, such as 2016-01-01T00:00:00Z."`
	WindowStart *command.Instant `placeholder:"TIME" help:"Makes only rows from this time on, of the same dataset."`
	WindowEnd   *command.Instant `placeholder:"TIME" help:"Makes only rows before this time, of the same dataset."`
	SeriesFirst int64            `default:"0" placeholder:"N" help:"Makes only rows of the series from this number on."`
	SeriesCount *int64           `range:"1:" placeholder:"N" help:"Makes only rows of this number of series."`
	Table       string           `placeholder:"NAME" help:"Makes only the rows of this table. Tables are ${tables}."`
}

// tablesOf are the tables of each kind of dataset.
var tablesOf = map[string][]string{
	"devops": devops.TableNames(), "iot": iot.TableNames(), "frames": {frames.TableName}, "join-frames": frames.JoinTableNames(), "hits": {hits.TableName},
}

// Clocked is the extent of a dataset with a tick per interval.
func (f *Fleet) Clocked(clock Clock, tables []string) (dataset.Extent, error) {
	x := dataset.Extent{End: int64(clock.End), Interval: int64(clock.Interval)}
	err := f.Fill(&x, tables)
	return x, err
}

// Fill adds the flags of every dataset to an extent and checks them against each other.
func (f *Fleet) Fill(x *dataset.Extent, tables []string) error {
	x.Seed, x.Scale, x.Start = f.Seed, f.Scale, int64(f.Start)
	x.WindowStart, x.WindowEnd = x.Start, x.End
	x.SeriesFirst, x.SeriesCount, x.Table = f.SeriesFirst, f.Scale-f.SeriesFirst, f.Table
	if f.Table != "" && !slices.Contains(tables, f.Table) {
		return command.Mistakef("--table: %s", command.Unknown(f.Table, tables))
	}
	if x.End <= x.Start {
		return command.Mistakef("--end is %s, which is not after --start %s; give a later --end.", command.Clock(x.End), f.Start)
	}
	ticks := (x.End - x.Start) / x.Interval
	if ticks > dataset.MaxTicks {
		return command.Mistakef("--interval %s cuts the time from --start to --end into more than %d ticks; give a longer --interval.",
			time.Duration(x.Interval), int64(dataset.MaxTicks))
	}
	if f.WindowStart != nil {
		x.WindowStart = int64(*f.WindowStart)
	}
	if f.WindowEnd != nil {
		x.WindowEnd = int64(*f.WindowEnd)
	}
	if x.WindowStart < x.Start || x.WindowEnd > x.End || x.WindowEnd < x.WindowStart {
		return command.Mistakef("the window %s … %s is not inside the dataset %s … %s; move --window-start or --window-end.",
			command.Clock(x.WindowStart), command.Clock(x.WindowEnd), command.Clock(x.Start), command.Clock(x.End))
	}
	if f.SeriesFirst >= f.Scale {
		return command.Mistakef("--series-first is %d, but --scale %d has only the series 0 to %d; give a smaller one.",
			f.SeriesFirst, f.Scale, f.Scale-1)
	}
	if f.SeriesCount != nil {
		if f.SeriesFirst+*f.SeriesCount > f.Scale {
			return command.Mistakef("--series-count is %d, but from --series-first %d on there are only %d; give at most that.",
				*f.SeriesCount, f.SeriesFirst, f.Scale-f.SeriesFirst)
		}
		x.SeriesCount = *f.SeriesCount
	}
	if ticks > 0 && x.Scale > dataset.MaxSeriesTicks/ticks {
		return command.Mistakef("--scale %d with %d ticks are more rows than can be counted; give a smaller --scale, a longer --interval or an earlier --end.",
			x.Scale, ticks)
	}
	return nil
}
