package dataset_test

import (
	"testing"

	"benchbook/benchload/dataset"
)

// Stretches follow each other without gaps, from the window's start to the last tick
// that can be counted, and all are of one dataset.
func TestStretchesFollowEachOther(t *testing.T) {
	const start, interval = 1451606400e9, 3600e9
	e := dataset.Extent{Scale: 3, Start: start, End: start + 100*interval, Interval: interval, WindowStart: start + 10*interval, WindowEnd: start + 20*interval, SeriesCount: 3}
	at, end, stretches := e.WindowStart, int64(0), int64(0)
	for {
		part, more := e.Stretch(stretches, 100_000)
		if !more {
			break
		}
		if part.WindowStart != at || part.WindowEnd <= at || part.Start != e.Start || end != 0 && part.End != end {
			t.Fatalf("stretch %d is %+v, want one from %d on", stretches, part, at)
		}
		at, end = part.WindowEnd, part.End
		stretches++
	}
	if stretches < 2 || at != end || end > dataset.MaxTime {
		t.Errorf("%d stretches end at %d, the dataset at %d", stretches, at, end)
	}
	if _, more := e.Stretch(1<<40, 1<<40); more {
		t.Error("a stretch beyond all times exists")
	}
}
