// Package walk generates random walks that can be entered at any tick.
//
// The value of a walk is a pure function of a key and a tick: no state is carried from
// one tick to the next. So any window of a dataset can be generated alone, by any
// number of workers, with the same bytes.
//
// All arithmetic after the set-up is on integers, so that the bytes are the
// same on every architecture (floating point may be fused on some).
package walk

// golden is 2^64 divided by the golden ratio, the increment of SplitMix64
// (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014).
const golden = 0x9E3779B97F4A7C15

// Mix is the finaliser of SplitMix64 (Stafford's variant 13): a bijection of
// 64 bits in which every input bit changes every output bit about half the time.
func Mix(x uint64) uint64 {
	x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9
	x = (x ^ (x >> 27)) * 0x94D049BB133111EB
	return x ^ (x >> 31)
}

// Key names one random stream: the seed and the parts that tell it from others.
func Key(seed uint64, parts ...uint64) uint64 {
	key := Mix(seed + golden)
	for _, part := range parts {
		key = Mix(key ^ Mix(part+golden))
	}
	return key
}

// At is the n-th number of the stream with this key.
func At(key, n uint64) uint64 { return Mix(key + n*golden) }

// Below is the n-th number of a stream, scaled to 0 … limit-1.
// The bias of the scaling is under limit/2^32.
func Below(key, n, limit uint64) uint64 { return (At(key, n) >> 32) * limit >> 32 }
