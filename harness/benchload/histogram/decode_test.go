package histogram

import (
	"math/rand/v2"
	"testing"
)

func TestWhatWasEncodedIsDecoded(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for round := range 50 {
		var h Histogram
		for range round * 20 {
			h.Record(random.Int64N(1 << random.IntN(42)))
		}
		again, err := Decode(h.Encode())
		if err != nil {
			t.Fatal(err)
		}
		if again.Count != h.Count || again.Encode() != h.Encode() || again.Quantile(0.99) != h.Quantile(0.99) && h.Max != h.Quantile(0.99) {
			t.Fatalf("round %d: %d values became %d", round, h.Count, again.Count)
		}
	}
}

func FuzzDecode(f *testing.F) {
	var h Histogram
	f.Add(h.Encode())
	h.Record(1)
	h.Record(Highest)
	f.Add(h.Encode())
	f.Add("AAAA")
	f.Fuzz(func(t *testing.T, text string) {
		h, err := Decode(text)
		if err != nil {
			return
		}
		// What could be read can be merged and written.
		var sum Histogram
		sum.Add(h)
		if again, err := Decode(sum.Encode()); err != nil || again.Count != h.Count {
			t.Errorf("%d values became %v, error %v", h.Count, again, err)
		}
	})
}
