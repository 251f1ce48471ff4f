package dataset

// Extent is what is asked of a generator: the dataset, and the part of it to
// make. Times are nanoseconds since 1970.
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

// Clock says when the ticks of a dataset happen.
type Clock interface {
	// Time is when a tick happens.
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

// Time is when a tick happens.
func (e Extent) Time(tick int64) int64 {
	if e.Clock != nil {
		return e.Clock.Time(tick)
	}
	return e.Start + tick*e.Interval
}

// Client is the share of one of several clients: the series cut in count
// nearly equal ranges.
func (e Extent) Client(index, count int64) Extent {
	first := e.SeriesCount * index / count
	end := e.SeriesCount * (index + 1) / count
	e.SeriesFirst, e.SeriesCount = e.SeriesFirst+first, end-first
	return e
}
