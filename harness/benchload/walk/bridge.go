package walk

import "math"

// EraBits is the binary logarithm of the length of an era in ticks. A walk is
// a row of eras; inside one it is a bridge between two known ends.
const EraBits = 24

// TickBits bounds the domain: ticks 0 … 2^TickBits-1 can be entered.
const TickBits = 32

// Bridge is a random walk with independent normal steps, in integer units.
//
// It is built from the middle (Lévy's construction): the walk over an era ends
// at drift·2^24 + σ·sqrt(2^24)·z, and the middle of any stretch of 2^L ticks
// with ends a and b is (a+b)/2 + σ·sqrt(2^L)/2·z. The z are drawn by a hash of
// (key, era, place in the tree), so any tick is reached in at most 24 steps and
// the joint law is exactly that of independent steps N(drift, σ²), up to the
// truncation of z (see Normal) and the rounding to units.
type Bridge struct {
	// scale[L] is the deviation at the middle of 2^L ticks, scale[0] that of
	// the end of an era; in units of 2^-3, as Normal wants it.
	scale  [EraBits + 1]uint64
	drift  int64
	rising bool
}

// NewBridge makes a walk with these mean and standard deviation of one step,
// in units. A rising walk never decreases: a middle that would fall outside its
// two ends is put on the nearer end, which for a mean of at least five standard
// deviations happens about once in three million ticks.
func NewBridge(mean, deviation float64, rising bool) Bridge {
	bridge := Bridge{drift: int64(mean), rising: rising}
	bridge.scale[0] = uint64(deviation * (1 << (EraBits/2 + 3)))
	for level := 1; level <= EraBits; level++ {
		// Square root and product are correctly rounded everywhere.
		bridge.scale[level] = uint64(math.Sqrt(float64(uint64(1)<<level)) * deviation * 4)
	}
	return bridge
}

// EraStart is the sum of the steps of all eras before this one, modulo 2^64.
func (b *Bridge) EraStart(key, era uint64) int64 {
	sum := int64(0)
	for past := range era {
		sum += b.eraEnd(key, past)
	}
	return sum
}

// eraEnd is how far the walk gets in one era.
func (b *Bridge) eraEnd(key, era uint64) int64 {
	end := b.drift<<EraBits + Normal(At(key, era<<(EraBits+1)), b.scale[0])
	if b.rising {
		end = max(end, 0)
	}
	return end
}

// middle is the walk half way between two known ticks, with values start and
// end, that are 2^level apart; h is the hash of its place.
func (b *Bridge) middle(start, end int64, level int, h uint64) int64 {
	half := (end - start) >> 1
	noise := Normal(h, b.scale[level])
	if b.rising {
		noise = min(max(noise, -half), half)
	}
	return start + half + noise
}

// Fill sets out[i] to the walk at tick+i, counted from the start of its era.
// len(out)-1 must be a power of two, at most 2^EraBits, and divide tick; the
// last element is the start of the next stretch.
func (b *Bridge) Fill(key, tick uint64, out []int64) {
	length := uint64(len(out) - 1)
	era := tick >> EraBits
	local := tick & (1<<EraBits - 1)
	places := era << (EraBits + 1)

	// Down the tree to the stretch.
	start, end := int64(0), b.eraEnd(key, era)
	level := EraBits
	for ; uint64(1)<<level > length; level-- {
		place := places | 1<<(EraBits-level) | local>>level
		mid := b.middle(start, end, level, At(key, place))
		if local>>(level-1)&1 == 0 {
			end = mid
		} else {
			start = mid
		}
	}
	out[0], out[length] = start, end

	// Then all middles inside it, level by level.
	for ; level > 0; level-- {
		step := uint64(1) << level
		place := key + (places|1<<(EraBits-level)|local>>level)*golden
		scale := b.scale[level]
		if b.rising {
			for at := uint64(0); at < length; at += step {
				half := (out[at+step] - out[at]) >> 1
				noise := Normal(Mix(place), scale)
				out[at+step/2] = out[at] + half + min(max(noise, -half), half)
				place += golden
			}
			continue
		}
		for at := uint64(0); at < length; at += step {
			out[at+step/2] = out[at] + (out[at+step]-out[at])>>1 + Normal(Mix(place), scale)
			place += golden
		}
	}
}
