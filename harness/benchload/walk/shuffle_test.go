package walk

import "testing"

func TestShufflesArePermutations(t *testing.T) {
	for _, size := range []uint64{1, 2, 10, 11, 1000, 1 << 12, 1<<12 + 1} {
		seen := make([]bool, size)
		for place := range size {
			put := Shuffle(Key(1, size), place, size)
			if put >= size || seen[put] {
				t.Fatalf("size %d: place %d is put on %d, which is taken or outside", size, place, put)
			}
			seen[put] = true
		}
	}
}

// Neighbours are put far from each other, and every key puts them elsewhere.
func TestShufflesLookRandom(t *testing.T) {
	const size = 10_000
	stay, rise := 0, 0
	for place := range uint64(size - 1) {
		here, next := Shuffle(7, place, size), Shuffle(7, place+1, size)
		if here == Shuffle(8, place, size) {
			stay++
		}
		if next > here {
			rise++
		}
	}
	if stay > 10 || rise < size*45/100 || rise > size*55/100 {
		t.Errorf("%d of %d places are the same with another key, and %d rise", stay, size, rise)
	}
}
