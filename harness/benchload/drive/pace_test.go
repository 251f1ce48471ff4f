package drive

import (
	"testing"
	"time"
)

func TestTicksAreMultiplesOfTheInterval(t *testing.T) {
	start := time.Unix(1000, 0)
	at := func(ms int) time.Time { return start.Add(time.Duration(ms) * time.Millisecond) }
	tick := ticker{100 * time.Millisecond, start}
	// When an operation begins, and the tick that the next one waits for.
	for _, c := range []struct{ begun, due int }{{0, 100}, {100, 200}, {230, 300}, {399, 400}, {400, 500}, {850, 900}} {
		tick.begun(at(c.begun))
		if tick.after(at(c.begun)) != at(c.due) {
			t.Errorf("begun at %d ms, the next begins at %s, want %d ms", c.begun, tick.after(at(c.begun)).Sub(start), c.due)
		}
	}
	if late := at(1000); tick.after(late) != late {
		t.Error("a worker that is late waits")
	}
}

func TestWithoutATickNothingWaits(t *testing.T) {
	now := time.Unix(1000, 0)
	tick := ticker{0, now.Add(time.Hour)}
	tick.begun(now)
	if tick.after(now) != now {
		t.Error("a worker waits")
	}
}

func TestALineOfAWholeDurationIsCut(t *testing.T) {
	for _, poisson := range []bool{false, true} {
		a := newArrivals(Pace{Rate: 1e7, Duration: 2 * time.Second, Poisson: poisson}, time.Unix(1000, 0))
		for _, c := range []struct {
			since time.Duration
			more  bool
		}{{0, true}, {2 * time.Second, true}, {4*time.Second - 1, true}, {4 * time.Second, false}} {
			if _, _, more := a.open(c.since); more != c.more {
				t.Errorf("after %s, an operation begins: %t", c.since, more)
			}
		}
		if a.offered() != 1e7 {
			t.Errorf("offered %g per second", a.offered())
		}
	}
}

func TestALineIsNotCutBeforeTheRowsAreSent(t *testing.T) {
	a := newArrivals(Pace{Rate: 1e7, Duration: time.Second, Rows: 10}, time.Unix(1000, 0))
	if _, _, more := a.open(time.Minute); !more {
		t.Error("rows that a later phase reads are missing")
	}
}
