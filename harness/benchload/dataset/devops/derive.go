package devops

import (
	"math/bits"

	"benchbook/benchload/dataset"
)

// derive completes the rows of one host of a block: the fields that are fixed
// or follow from a walk.
func (d *Devops) derive(block *dataset.Block, s int) {
	h := newHost(d.extent.Seed, block.Series+int64(s))
	for i := range d.chosen {
		c := &d.chosen[i]
		at := func(tick int) []int64 { return block.At(tick, s)[c.place : c.place+len(c.columns)] }
		switch c.name {
		case "disk":
			for tick := range block.Ticks {
				deriveDisk(at(tick))
			}
		case "kernel":
			boot := h.bootTime()
			for tick := range block.Ticks {
				at(tick)[0] = boot
			}
		case "mem":
			total := h.memory()
			for tick := range block.Ticks {
				deriveMemory(at(tick), total)
			}
		case "redis":
			for tick := range block.Ticks {
				at(tick)[0] = (block.Tick + int64(tick)) * d.extent.Interval / 1e9
			}
		}
	}
}

// deriveDisk knows the free bytes; an inode takes 4096 of them.
func deriveDisk(v []int64) {
	free := v[1]
	used := terabyte - free
	v[0], v[2], v[3] = terabyte, used, used*100/terabyte
	v[4], v[5], v[6] = terabyte/4096, free/4096, used/4096
}

// deriveMemory knows the used, cached and buffered parts of the total.
func deriveMemory(v []int64, total int64) {
	const whole = 100 * dataset.DecimalUnit
	cached, buffered, used := v[4], v[5], v[6]
	v[0] = total
	v[2] = share(used, total)
	v[1] = total - v[2]
	v[3] = v[2]
	v[4] = share(cached, total)
	v[5] = share(buffered, total)
	// Never a full hundred: decimal fields have two digits before the point.
	v[7] = whole - max(used, 1)
	v[8] = whole - max(buffered, 1)
}

// share is part of total in bytes, with part in decimal units of percent.
func share(part, total int64) int64 {
	high, low := bits.Mul64(uint64(part), uint64(total))
	quotient, _ := bits.Div64(high, low, 100*dataset.DecimalUnit)
	return int64(quotient)
}
