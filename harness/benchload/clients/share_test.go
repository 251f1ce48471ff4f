package clients

import (
	"bytes"
	"slices"
	"testing"

	"benchbook/benchload/dataset"
	"benchbook/benchload/dataset/iot"
	"benchbook/benchload/format"
	"benchbook/benchload/stream"
)

// lines are the sorted lines of an extent.
func lines(e dataset.Extent) []string {
	g := iot.New(e)
	s := stream.New(g, format.NewInflux(g), stream.Options{})
	defer s.Close()
	var all []string
	for {
		piece, more := s.Next()
		if !more {
			slices.Sort(all)
			return all
		}
		for _, line := range bytes.SplitAfter(piece.Bytes, []byte("\n")) {
			all = append(all, string(line))
		}
		s.Release(piece)
	}
}

// However a dataset is cut, every row is of exactly one client.
func TestSharesAreTheWhole(t *testing.T) {
	const start, interval = 1640995200_000000000, 10_000000000
	e := dataset.Extent{Seed: 3, Scale: 7, Start: start, End: start + 101*interval, Interval: interval,
		WindowStart: start + 3*interval, WindowEnd: start + 90*interval + 5, SeriesFirst: 1, SeriesCount: 5}
	whole := slices.DeleteFunc(lines(e), func(l string) bool { return l == "" })
	for _, by := range []string{"series", "window"} {
		for count := int64(1); count <= 5; count++ {
			var joined []string
			for index := range count {
				joined = append(joined, lines(Share(e, by, index, count))...)
			}
			joined = slices.DeleteFunc(joined, func(l string) bool { return l == "" })
			slices.Sort(joined)
			if !slices.Equal(joined, whole) {
				t.Errorf("%d shares by %s have %d rows, the whole %d", count, by, len(joined), len(whole))
			}
		}
	}
	e.WindowEnd = e.WindowStart
	if got := lines(Share(e, "window", 1, 3)); len(got) != 0 {
		t.Errorf("the share of nothing has %d rows", len(got))
	}
}
