package walk

import "math/bits"

// rounds is how many rounds of the Feistel network in Shuffle there are: with four, the
// result depends on every bit of the place and of the key.
const rounds = 4

// Shuffle returns where the permutation of 0 … size-1 with this key puts a place, which must be
// below size: a Feistel network over the least even number of bits, repeated until the result
// is below size too.
func Shuffle(key, place, size uint64) uint64 {
	half := max(1, (bits.Len64(size-1)+1)/2)
	mask := uint64(1)<<half - 1
	for {
		left, right := place>>half, place&mask
		for round := range uint64(rounds) {
			left, right = right, left^At(key, round<<half|right)&mask
		}
		if place = left<<half | right; place < size {
			return place
		}
	}
}
