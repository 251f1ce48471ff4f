package format

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"benchbook/benchload/dataset"
)

func TestIntegersAreAsStrconvWritesThem(t *testing.T) {
	cases := []int64{0, 1, 9, 10, 99999999, 100000000, 9999999999999999, 10000000000000000, math.MaxInt64, math.MinInt64, -1, -42}
	random := rand.New(rand.NewPCG(1, 1))
	for range 200000 {
		cases = append(cases, int64(random.Uint64())>>random.IntN(64))
	}
	var room [40]byte
	for _, n := range cases {
		got := string(room[:putInteger(room[:], 0, n)])
		if want := strconv.FormatInt(n, 10); got != want {
			t.Fatalf("%d is written as %q", n, got)
		}
	}
}

func TestDecimalsHaveFourteenPlaces(t *testing.T) {
	cases := []int64{0, 1, dataset.DecimalUnit, 10*dataset.DecimalUnit - 1, 10 * dataset.DecimalUnit, 100*dataset.DecimalUnit - 1}
	random := rand.New(rand.NewPCG(1, 1))
	for range 200000 {
		cases = append(cases, random.Int64N(100*dataset.DecimalUnit)>>random.IntN(54))
	}
	var room [40]byte
	for _, n := range cases {
		got := string(room[:putDecimal(room[:], 0, n)])
		if want := fmt.Sprintf("%d.%014d", n/dataset.DecimalUnit, n%dataset.DecimalUnit); got != want {
			t.Fatalf("%d is written as %q, want %q", n, got, want)
		}
		want, err := strconv.ParseFloat(got, 64)
		if err != nil || decimal(n) != want {
			t.Fatalf("%d is the number %v, but its digits are %v", n, decimal(n), want)
		}
	}
}

func BenchmarkPutInteger(b *testing.B) {
	var room [40]byte
	for i := range b.N {
		putInteger(room[:], 0, int64(i&0xFFFFF))
	}
}

func BenchmarkPutDecimal(b *testing.B) {
	var room [40]byte
	for i := range b.N {
		putDecimal(room[:], 0, int64(i)*7919)
	}
}
