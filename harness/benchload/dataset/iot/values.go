package iot

import (
	"math/bits"

	"benchbook/benchload/dataset"
	"benchbook/benchload/walk"
)

// Fill generates the values of the block's trucks from first to end-1.
func (g *IoT) Fill(block *dataset.Block, first, end int) {
	d := g.drafts.Get().(*draft)
	defer g.drafts.Put(d)
	for s := first; s < end; s++ {
		for i := range g.chosen {
			c := &g.chosen[i]
			g.fill(c, d.space[:], block.Series+int64(s), block.Tick, block.Ticks,
				block.Values[s*block.Width+c.place:], block.Count*block.Width)
		}
	}
}

// fill generates the values of one table of one truck, for some ticks. The space has
// one place more than the smallest aligned stretch around them.
func (g *IoT) fill(c *chosen, space []int64, series, tick int64, ticks int, values []int64, stride int) {
	length := int64(1) << bits.Len64(uint64(tick)^uint64(tick+int64(ticks)-1))
	room, skip := space[:length+1], int(tick&(length-1))
	for f := range c.columns {
		key := walk.Key(g.extent.Seed, uint64(series), streamWalks, uint64(c.id)<<8|uint64(f))
		c.columns[f].make.fill(key, tick, room, skip, values[f:], stride, ticks)
	}
}

// fill generates the values of a walk.
func (w *walker) fill(key uint64, tick int64, room []int64, skip int, values []int64, stride, ticks int) {
	above, _ := bits.Mul64(walk.At(key^streamStarts<<32, ^uint64(0)), w.spread)
	w.walk.Fill(key, uint64(tick)-uint64(skip), w.start+above, room, skip, ticks, values, stride)
	for at := 0; ticks > 0; ticks-- {
		inside := min(max(values[at]-w.margin, 0), w.top)
		values[at] = w.low + inside>>fine
		at += stride
	}
}

// tank is the fuel state: it falls and, when empty, is full again.
type tank struct{ used walk.Walk }

// Steps of the use case are uniform in 0 … 0.001 of the tank; used is in
// thousandths.
func newTank() *tank { return &tank{walk.NewRising(0.5, 0.28867513459481288)} }

func (t *tank) fill(key uint64, tick int64, room []int64, skip int, values []int64, stride, ticks int) {
	t.used.Fill(key, uint64(tick)-uint64(skip), 0, room, skip, ticks, values, stride)
	for at := 0; ticks > 0; ticks-- {
		values[at] = (1000 - values[at]%1000) / 100
		at += stride
	}
}

// load is what a truck carries: at one tick in twenty something else than before.
type load struct{}

// Loads change with a chance of loadChance/2^loadBits.
const (
	loadChance = 205
	loadBits   = 12
	maxLoad    = 5000
)

func (load) fill(key uint64, tick int64, _ []int64, _ int, values []int64, stride, ticks int) {
	changes := chance(walk.Key(key, streamLoads), uint64(tick)>>6, loadChance, loadBits)
	current := loadAt(key, tick, changes)
	for at := 0; ; at += stride {
		values[at] = current
		if ticks--; ticks == 0 {
			return
		}
		tick++
		if tick&63 == 0 {
			changes = chance(walk.Key(key, streamLoads), uint64(tick)>>6, loadChance, loadBits)
		}
		if changes>>(tick&63)&1 != 0 {
			current = int64(walk.Below(key, uint64(tick), maxLoad))
		}
	}
}

// loadAt is the load since the last change up to a tick; trucks start empty.
func loadAt(key uint64, tick int64, changes uint64) int64 {
	changes &= 1<<(tick&63+1) - 1
	for word := tick >> 6; ; {
		if word == 0 {
			changes &^= 1
		}
		if changes != 0 {
			last := word<<6 + int64(bits.Len64(changes)) - 1
			return int64(walk.Below(key, uint64(last), maxLoad))
		}
		if word == 0 {
			return 0
		}
		word--
		changes = chance(walk.Key(key, streamLoads), uint64(word), loadChance, loadBits)
	}
}

// chance gives 64 random bits that are each one with a chance of odds/2^places:
// from the last binary place on, the running word is united with a random one,
// or cut by it.
func chance(key, word, odds uint64, places int) uint64 {
	result := uint64(0)
	for place := range places {
		random := walk.At(key, word*64+uint64(place))
		if odds>>place&1 != 0 {
			result |= random
		} else {
			result &= random
		}
	}
	return result
}
