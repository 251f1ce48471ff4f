package format

import (
	"math/rand/v2"
	"strconv"
	"testing"
)

// Short floats are written as the shortest text that is the same float64.
func TestShortFloats(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var room [64]byte
	check := func(value int64, places uint8, unit float64) {
		want := strconv.FormatFloat(float64(value)/unit, 'f', -1, 64)
		if got := string(room[:putShort(room[:], 0, value, places)]); got != want {
			t.Fatalf("%d with %d places is %s, want %s", value, places, got, want)
		}
	}
	for range 200000 {
		value := random.Int64N(36_000_001) - 18_000_000
		for _, v := range []int64{value, value / 1000, value - value%10, value - value%1000, value % 10} {
			check(v, 0, 1)
			check(v, 1, 10)
			check(v, 5, 100_000)
		}
	}
}
