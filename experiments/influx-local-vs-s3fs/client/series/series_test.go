package series

import (
	"strings"
	"testing"

	"benchbook/benchload/dataset"
	"benchbook/benchload/format"
	"benchbook/benchload/stream"
	"benchbook/benchload/stream/streamtest"
)

func extent(scale, ticks int64) dataset.Extent {
	return dataset.Extent{
		Seed: 1, Scale: scale, SeriesCount: scale, Start: 0, End: ticks * 1000, WindowEnd: ticks * 1000, Interval: 1000,
	}
}

func lines(t *testing.T, g dataset.Generator) []string {
	t.Helper()
	text := string(streamtest.Read(g, format.NewInflux(g), stream.Options{PieceRows: 7, Readers: 1}))
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

func TestInchIsWrittenAsTheToolWritesIt(t *testing.T) {
	g := NewInch(extent(6, 2), []int64{3, 2}, 2)
	got := lines(t, g)
	want := []string{
		"m0,tag0=value0,tag1=value0 v0=1,v01=1 0",
		"m0,tag0=value1,tag1=value0 v0=1,v01=1 0",
		"m0,tag0=value2,tag1=value0 v0=1,v01=1 0",
		"m0,tag0=value0,tag1=value1 v0=1,v01=1 0",
		"m0,tag0=value1,tag1=value1 v0=1,v01=1 0",
		"m0,tag0=value2,tag1=value1 v0=1,v01=1 0",
	}
	for i, line := range want {
		if got[i] != line {
			t.Errorf("line %d is %q, want %q", i, got[i], line)
		}
	}
	if len(got) != 12 || dataset.Rows(g) != 12 || dataset.Values(g) != 24 {
		t.Errorf("%d lines, %d rows, %d values; want 12, 12, 24", len(got), dataset.Rows(g), dataset.Values(g))
	}
}

func TestEveryCombinationOfTagsIsASeriesOfItsOwn(t *testing.T) {
	g := NewInch(extent(100*10*10, 1), []int64{100, 10, 10}, 1)
	seen := map[string]bool{}
	for _, line := range lines(t, g) {
		head, _, _ := strings.Cut(line, " ")
		seen[head] = true
	}
	if len(seen) != 10_000 {
		t.Errorf("%d series, want 10000", len(seen))
	}
}

func TestStressCountsItsTicksInEverySeries(t *testing.T) {
	got := lines(t, NewStress(extent(3, 3)))
	want := []string{"ctr,some=tag-0 n=0i 0", "ctr,some=tag-1 n=0i 0", "ctr,some=tag-2 n=0i 0", "ctr,some=tag-0 n=1i 1000"}
	for i, line := range want {
		if got[i] != line {
			t.Errorf("line %d is %q, want %q", i, got[i], line)
		}
	}
	if len(got) != 9 {
		t.Errorf("%d lines, want 9", len(got))
	}
}

func BenchmarkFill(b *testing.B) {
	g := NewStress(extent(1000, 64))
	block := dataset.Block{Ticks: 64, Count: 1000, Width: 1, Tables: 1, Values: make([]int64, 64*1000)}
	b.SetBytes(64 * 1000 * 8)
	b.ReportAllocs()
	for b.Loop() {
		g.Fill(&block, 0, 1000)
	}
}
