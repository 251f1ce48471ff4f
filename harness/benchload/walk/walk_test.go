package walk

import (
	"math"
	"testing"
)

// values fills a walk from tick on.
func values(w Walk, key, tick, offset uint64, count int) []int64 {
	out := make([]int64, count)
	w.Fill(key, tick, offset, make([]int64, count+1), 0, count, out, 1)
	return out
}

func TestFoldedWalksStayInTheirRange(t *testing.T) {
	w := NewFolded(5, 1, 100, 100)
	seen := map[int64]bool{}
	for key := range uint64(8) {
		for _, v := range values(w, key, 1<<13, 0, 1<<12) {
			if v < 0 || v >= 100 {
				t.Fatalf("the value %d is not in 0 … 99", v)
			}
			seen[v] = true
		}
	}
	if len(seen) != 100 {
		t.Errorf("%d values of 100 were seen", len(seen))
	}
}

func TestFoldedStepsAreThoseOfTheWalk(t *testing.T) {
	const limit = 100_0000_0000
	w := NewFolded(0, 1, 100, limit)
	const n = 1 << 14
	squares := 0.0
	all := values(w, 5, 0, 1<<62, n)
	for i := range n - 1 {
		step := float64(all[i+1]-all[i]) / (limit / 100)
		if math.Abs(step) > 6 {
			t.Fatalf("a step of %v at %d: folding tore the walk", step, i)
		}
		squares += step * step
	}
	if got := squares / n; math.Abs(got-1) > 0.05 {
		t.Errorf("the variance of steps is %v, want 1", got)
	}
}

func TestWalksStartWhereTheyShould(t *testing.T) {
	for _, c := range []struct {
		walk   Walk
		offset uint64
		want   int64
	}{
		{NewFolded(5, 1, 1000, 1000), 0, 0},
		{NewFolded(50, 1, 1<<34, 1<<34), 1 << 62, 1 << 33},
		{NewFolded(50, 1, 1<<40, 1<<40), 1 << 62, 1 << 39},
		{NewRising(50, 1), 0, 0},
		{NewFree(1, 1), 0, 0},
	} {
		if got := values(c.walk, 1, 0, c.offset, 1)[0]; got != c.want {
			t.Errorf("a walk starts at %d, want %d", got, c.want)
		}
	}
}

func TestFreeWalksRoundTowardsZero(t *testing.T) {
	w := NewFree(0, 0.3)
	zeros := 0
	for _, v := range values(w, 11, 0, 0, 4096) {
		if v == 0 {
			zeros++
		}
	}
	if zeros == 0 {
		t.Error("a walk around zero is never zero")
	}
}

func TestFilledPartsAreThoseOfTheWhole(t *testing.T) {
	w := NewFolded(0, 1, 100, 1000)
	whole := values(w, 1, 256, 0, 64)
	part := make([]int64, 3*7)
	w.Fill(1, 256, 0, make([]int64, 65), 11, 7, part, 3)
	for i := range 7 {
		if part[3*i] != whole[11+i] {
			t.Errorf("value %d is %d, want %d", i, part[3*i], whole[11+i])
		}
	}
}
