package walk

import (
	"math"
	"math/rand/v2"
	"testing"
)

const places = 1 << 20

func TestEveryStretchAgreesWithEveryOther(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, bridge := range []Bridge{NewBridge(0, places, false), NewBridge(5*places, places, true)} {
		for range 300 {
			key := random.Uint64()
			long := make([]int64, 1025)
			start := random.Uint64N(1<<TickBits) &^ 1023
			bridge.Fill(key, start, long)
			size := uint64(1) << random.IntN(10)
			at := random.Uint64N(1024) &^ (size - 1)
			short := make([]int64, size+1)
			bridge.Fill(key, start+at, short)
			for i := range short {
				if short[i] != long[at+uint64(i)] {
					t.Fatalf("tick %d differs between stretches of %d and 1024", start+at+uint64(i), size)
				}
			}
		}
	}
}

func TestErasContinue(t *testing.T) {
	bridge := NewBridge(5*places, places, true)
	for era := range uint64(5) {
		last := make([]int64, 3)
		bridge.Fill(9, (era+1)<<EraBits-2, last)
		end := bridge.EraStart(9, era) + last[2]
		if next := bridge.EraStart(9, era+1); end != next {
			t.Errorf("era %d ends at %d, but the next one starts at %d", era, end, next)
		}
	}
}

func TestStepsAreNormalAndIndependent(t *testing.T) {
	bridge := NewBridge(0, places, false)
	const n = 1 << 17
	out := make([]int64, n+1)
	bridge.Fill(3, 1<<20, out)
	var sum, squares, lagged, fourth, last float64
	for i := range n {
		step := float64(out[i+1]-out[i]) / places
		sum, squares, lagged, fourth = sum+step, squares+step*step, lagged+step*last, fourth+math.Pow(step, 4)
		last = step
	}
	for _, moment := range []struct {
		name                 string
		got, want, tolerance float64
	}{
		{"mean", sum / n, 0, 0.015},
		{"variance", squares / n, 1, 0.02},
		{"correlation of neighbours", lagged / n, 0, 0.015},
		{"kurtosis", fourth / n, 3, 0.1},
	} {
		if math.Abs(moment.got-moment.want) > moment.tolerance {
			t.Errorf("the %s of steps is %v, want %v ± %v", moment.name, moment.got, moment.want, moment.tolerance)
		}
	}
}

func TestTheSpreadGrowsWithTheRootOfTime(t *testing.T) {
	bridge := NewBridge(0, places, false)
	const walks = 4000
	for _, ticks := range []uint64{16, 1024, 1 << 20} {
		squares := 0.0
		out := make([]int64, 2)
		for key := range uint64(walks) {
			bridge.Fill(Key(1, key), ticks, out)
			squares += math.Pow(float64(out[0])/places, 2)
		}
		got := squares / walks / float64(ticks)
		if math.Abs(got-1) > 0.1 {
			t.Errorf("after %d ticks the variance is %v times the ticks, want 1 ± 0.1", ticks, got)
		}
	}
}

func TestRisingWalksNeverFall(t *testing.T) {
	// A mean of half a deviation would fall all the time if it were let.
	bridge := NewBridge(places/2, places, true)
	out := make([]int64, 1<<14+1)
	for key := range uint64(20) {
		bridge.Fill(key, key<<14, out)
		for i := range len(out) - 1 {
			if out[i+1] < out[i] {
				t.Fatalf("walk %d falls from %d to %d at %d", key, out[i], out[i+1], i)
			}
		}
	}
}

func BenchmarkFill64(b *testing.B) {
	bridge := NewBridge(0, places, false)
	out := make([]int64, 65)
	b.SetBytes(64)
	for i := range b.N {
		bridge.Fill(uint64(i), 4096, out)
	}
}
