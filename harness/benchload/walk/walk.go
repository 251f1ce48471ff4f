package walk

import "math/bits"

// Shape says what becomes of the bridge: how it is kept in its range.
type Shape uint8

// The shapes of the walks of a metric.
const (
	// Folded walks are reflected at both ends of their range.
	Folded Shape = iota
	// Rising walks only grow: counters.
	Rising
	// Free walks are unbounded.
	Free
)

// counterBits is the number of binary places of rising and free walks.
const counterBits = 20

// Walk is the law of one metric.
type Walk struct {
	bridge Bridge
	shape  Shape
	limit  uint64 // of a folded walk: values are 0 … limit-1
	shift  uint   // of a folded walk: 64 minus the binary logarithm of its period in units
}

// NewFolded makes a walk with steps N(mean, deviation²) reflected into
// [0, top), whose values are multiples of top/limit, given as 0 … limit-1.
//
// Its unit is chosen so that a full period (up and down again, twice the top)
// is a power of two: then a shift does what a division would, and the sum of
// past eras may wrap around. The suite clamps instead, which piles values up at
// the borders and, with a positive mean, keeps them at the top forever.
func NewFolded(mean, deviation, top float64, limit uint64) Walk {
	step, drift := deviation/(2*top), mean/(2*top)
	reach := 5.5*step*(1<<(EraBits/2)) + drift*(1<<EraBits)
	places := uint(55)
	for reach*float64(uint64(1)<<places) > 1<<62 {
		places--
	}
	unit := float64(uint64(1) << places)
	return Walk{NewBridge(drift*unit, step*unit, false), Folded, limit, 64 - places}
}

// NewRising makes a counter with steps N(mean, deviation²) that never falls.
func NewRising(mean, deviation float64) Walk {
	return Walk{NewBridge(mean*(1<<counterBits), deviation*(1<<counterBits), true), Rising, 0, 0}
}

// NewFree makes an unbounded walk with steps N(mean, deviation²).
func NewFree(mean, deviation float64) Walk {
	return Walk{NewBridge(mean*(1<<counterBits), deviation*(1<<counterBits), false), Free, 0, 0}
}

// Fill generates the values of the walk from tick on. offset is where it starts: a
// part of the range as a fraction of 2^63 for folded walks, zero for others.
// Bridge and scratch are as for Bridge.Fill; results are values[i*stride] for
// skip <= i < skip+count, the first of them at values[0].
func (w *Walk) Fill(key, tick uint64, offset uint64, scratch []int64, skip, count int, values []int64, stride int) {
	w.bridge.Fill(key, tick, scratch)
	base := w.bridge.EraStart(key, tick>>EraBits)
	at := 0
	part := scratch[skip : skip+count]
	switch w.shape {
	case Folded:
		shift := w.shift & 63
		for _, place := range part {
			phase := uint64(base+place)<<shift + offset
			folded := (phase ^ uint64(int64(phase)>>63)) << 1
			value, _ := bits.Mul64(folded, w.limit)
			values[at] = int64(value)
			at += stride
		}
	default:
		for _, place := range part {
			// Towards zero, as a conversion of a float to an integer does.
			sum := base + place
			values[at] = (sum + sum>>63&(1<<counterBits-1)) >> counterBits
			at += stride
		}
	}
}
