package dataset

// Extent says what to generate: the dataset, and the part of it. Times are
// nanoseconds since 1970.
type Extent struct {
	Seed     uint64
	Scale    int64 // hosts, trucks …
	Start    int64
	End      int64 // not included
	Interval int64

	WindowStart int64 // the part in time; equal to Start and End for all of it
	WindowEnd   int64
	SeriesFirst int64 // the part of the fleet: hosts SeriesFirst … +SeriesCount-1
	SeriesCount int64

	Table string // only this table; empty for all

	Clock Clock // when ticks happen, if that is not at every interval

	Tags   []int64 // values of each tag of a dataset that is all combinations of them
	Fields int64   // of a row, in a dataset that has any number of them
}

// Clock maps the ticks of a dataset to times.
type Clock interface {
	// Time returns the time of a tick.
	Time(tick int64) int64
	// TicksBefore counts the ticks before a time.
	TicksBefore(time int64) int64
}

// ticksBefore counts the ticks of the dataset before a time.
func (e Extent) ticksBefore(time int64) int64 {
	if e.Clock != nil {
		return e.Clock.TicksBefore(time)
	}
	return (time - e.Start + e.Interval - 1) / e.Interval
}

// Ticks is the part in time as ticks of the dataset: first, and one past the last.
func (e Extent) Ticks() (first, end int64) {
	return e.ticksBefore(e.WindowStart), e.ticksBefore(e.WindowEnd)
}

// Time returns the time of a tick.
func (e Extent) Time(tick int64) int64 {
	if e.Clock != nil {
		return e.Clock.Time(tick)
	}
	return e.Start + tick*e.Interval
}

// MaxTicks bounds the ticks of a dataset, MaxSeriesTicks its series times its ticks, and
// MaxTime its times.
const (
	MaxTicks       = 1<<32 - 1
	MaxSeriesTicks = 1 << 48
	MaxTime        = 7_258_118_400_000_000_000 // 2200-01-01
)

// Stretch returns one part of a dataset that has no end: the ticks from the window's
// start on, cut into stretches of this length, which are numbered from zero. It is
// false where no more times can be counted.
func (e Extent) Stretch(number, ticks int64) (Extent, bool) {
	most := min(MaxTicks, MaxSeriesTicks/max(e.Scale, 1), e.ticksBefore(MaxTime))
	first, _ := e.Ticks()
	if number > (most-first)/ticks || first+number*ticks >= most {
		return e, false
	}
	e.WindowStart, e.WindowEnd = e.Time(first+number*ticks), e.Time(min(first+(number+1)*ticks, most))
	e.End = e.Time(most)
	return e, true
}
