// Package stream generates a dataset on all cores and hands it out in order.
//
// The values of a block (some ticks of some series) are made by tasks of some
// series each; the bytes of a piece (a fixed number of rows) by a task each.
// Tasks are started in one fixed order and wait for what they need, so there is
// no deadlock, and neither blocks nor pieces nor the number of workers has any
// influence on the bytes.
package stream

import (
	"math/bits"

	"benchbook/benchload/dataset"
)

// defaultBlockBytes is how large the values of one block may become. Large blocks make
// the way down to a stretch of ticks cheap; three or more of them are alive.
const defaultBlockBytes = 16 << 20

// taskValues is about how many values one task makes.
const taskValues = 1 << 16

// plan is the cut of an extent into blocks.
type plan struct {
	generator dataset.Generator
	first     int64 // tick
	end       int64 // tick
	length    int64 // ticks of a block, a power of two; blocks start at its multiples
	count     int64 // series of a block
	tables    int64
}

// newPlan chooses the blocks: as long as memory allows, but all series, because
// rows are ordered by tick first. If one tick of all series is too large, a block
// is one tick of some series.
func newPlan(generator dataset.Generator, maxTicks, blockBytes int64) plan {
	extent := generator.Extent()
	p := plan{generator: generator, count: extent.SeriesCount, tables: int64(len(generator.Tables()))}
	p.first, p.end = extent.Ticks()
	perSeries := int64(generator.Width()) * 8
	ticks := blockBytes / (perSeries * max(p.count, 1))
	if ticks == 0 {
		p.length = 1
		p.count = max(1, blockBytes/perSeries)
		return p
	}
	p.length = int64(1) << (bits.Len64(uint64(min(ticks, maxTicks))) - 1)
	return p
}

// perTick is the number of blocks of one tick.
func (p *plan) perTick() int64 {
	all := p.generator.Extent().SeriesCount
	return (all + p.count - 1) / p.count
}

// blocks is the number of blocks.
func (p *plan) blocks() int64 {
	if p.end <= p.first || p.count == 0 {
		return 0
	}
	return ((p.end-1)/p.length - p.first/p.length + 1) * p.perTick()
}

// block describes the n-th block, whose first row has this number; its values
// are not made yet.
func (p *plan) block(n, row int64) dataset.Block {
	extent := p.generator.Extent()
	stretch := p.first/p.length + n/p.perTick()
	part := n % p.perTick()
	tick := max(stretch*p.length, p.first)
	count := min(p.count, extent.SeriesCount-part*p.count)
	last := min((stretch+1)*p.length, p.end)
	series := extent.SeriesFirst + part*p.count
	return dataset.Block{
		Tick:   tick,
		Ticks:  int(last - tick),
		Series: series,
		Count:  int(count),
		Width:  p.generator.Width(),
		Tables: int(p.tables),
		First:  row,
		Size:   dataset.RowsOf(p.generator, tick, last, series, count),
	}
}
