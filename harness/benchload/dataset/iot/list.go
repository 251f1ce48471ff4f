package iot

import (
	"cmp"
	"slices"

	"benchbook/benchload/dataset"
)

// draft is memory for making the values of a block and for listing its rows.
type draft struct {
	space   [dataset.MaxBlockTicks + 1]int64
	missing []uint64 // of (truck, table), for the 64 ticks at hand
	fates   []uint64 // keys, of trucks
	absent  []uint64 // keys, of (truck, table)
	late    []lateRow
}

// lateRow is a late row and its place among the rows: the cell of the tick at
// which it is written and the truck, the table that it comes before, its own
// tick, its table.
type lateRow struct {
	place uint64
	row   dataset.Row
}

// Bits of a place below those of its parts.
const (
	tickBits   = 1
	beforeBits = tickBits + 14
	cellBits   = beforeBits + 2
)

// List lists the rows of a block whose values are made.
func (g *IoT) List(block *dataset.Block) {
	d := g.drafts.Get().(*draft)
	defer g.drafts.Put(d)
	g.begin(d, block)
	g.gather(d, block)
	rows, late := block.Listed[:0], d.late
	// upTo takes the late rows up to a place.
	upTo := func(place uint64) {
		for len(late) > 0 && late[0].place < place {
			rows = append(rows, late[0].row)
			late = late[1:]
		}
	}
	if int64(cap(rows)) < block.Size {
		rows = make([]dataset.Row, 0, block.Size+block.Size/16)
	}
	for t := range block.Ticks {
		tick := block.Tick + int64(t)
		if t == 0 || tick&63 == 0 {
			for i, key := range d.absent {
				d.missing[i] = missing(key, tick>>6)
			}
		}
		for s := range block.Count {
			cell := t*block.Count + s
			for i := range g.chosen {
				upTo(uint64(cell)<<cellBits | uint64(g.chosen[i].id+1)<<beforeBits)
				if d.missing[s*len(g.chosen)+i]>>(tick&63)&1 != 0 {
					continue
				}
				c := &g.chosen[i]
				fate := fateOf(d.fates[s], tick, c.id)
				// A row that is held back so far crosses the border of its tick; the
				// last one has no border.
				crosses := g.perTick - c.id*g.extent.Scale - block.Series - int64(s)
				if crosses <= maxHeld && fate.held() >= crosses && tick != g.ticks-1 {
					continue
				}
				rows = append(rows, dataset.Row{
					Tick: int32(t), Series: int32(s), At: int32(cell * block.Width),
					Table: uint8(i), NoField: fate.noField(len(c.columns)), NoTag: g.noTag(fate, tick, c.id, block.Series+int64(s)),
				})
			}
			upTo(uint64(cell+1) << cellBits)
		}
	}
	if int64(len(rows)) != block.Size {
		panic("iot: the rows of a block are not as many as were counted")
	}
	block.Listed = rows
}

// begin prepares the keys of the block's trucks.
func (g *IoT) begin(d *draft, block *dataset.Block) {
	d.fates, d.absent, d.late = d.fates[:0], d.absent[:0], d.late[:0]
	for s := range block.Count {
		series := block.Series + int64(s)
		d.fates = append(d.fates, g.fateKey(series))
		for i := range g.chosen {
			d.absent = append(d.absent, g.missingKey(series, g.chosen[i].id))
		}
	}
	if cap(d.missing) < len(d.absent) {
		d.missing = make([]uint64, len(d.absent))
	}
	d.missing = d.missing[:len(d.absent)]
}

// gather finds the late rows that are written in the block, in their order.
func (g *IoT) gather(d *draft, block *dataset.Block) {
	reach := (g.perTick - 1 + maxHeld) / g.perTick // ticks that a row can be late
	oldest := block.Tick - reach
	for tick := max(oldest, 0); tick < min(block.Tick+int64(block.Ticks), g.ticks-1); tick++ {
		for i := range g.chosen {
			c := &g.chosen[i]
			// Only the last rows of a tick can cross its border.
			first := max(block.Series, g.perTick-maxHeld-c.id*g.extent.Scale)
			end := min(block.Series+int64(block.Count), g.extent.Scale)
			for truck := first; truck < end; truck++ {
				s := truck - block.Series
				fate := fateOf(d.fates[s], tick, c.id)
				held := c.id*g.extent.Scale + truck + fate.held()
				if held < g.perTick {
					continue
				}
				written := min(tick+held/g.perTick, g.ticks-1) - block.Tick
				if written < 0 || written >= int64(block.Ticks) || missing(d.absent[int(s)*len(g.chosen)+i], tick>>6)>>(tick&63)&1 != 0 {
					continue
				}
				d.late = append(d.late, lateRow{
					place: uint64(written*int64(block.Count)+s)<<cellBits |
						g.before(truck, held-(block.Tick+written-tick)*g.perTick)<<beforeBits |
						uint64(tick-oldest)<<tickBits | uint64(c.id),
					row: dataset.Row{
						Tick: int32(tick - block.Tick), Series: int32(s), At: g.valuesOf(d, block, c, truck, tick),
						Table: uint8(i), NoField: fate.noField(len(c.columns)), NoTag: g.noTag(fate, tick, c.id, truck),
					},
				})
			}
		}
	}
	slices.SortFunc(d.late, func(a, b lateRow) int { return cmp.Compare(a.place, b.place) })
}

// before is the table that a late row comes before, if it is held back so far
// into the tick at which it is written; the number of tables for none.
func (g *IoT) before(truck, held int64) uint64 {
	for id := range int64(len(tables)) {
		if held < id*g.extent.Scale+truck {
			return uint64(id)
		}
	}
	return uint64(len(tables))
}

// valuesOf is the place of the values of a row; those from before the block are
// made and put behind the others.
func (g *IoT) valuesOf(d *draft, block *dataset.Block, c *chosen, series, tick int64) int32 {
	if tick >= block.Tick {
		return int32(((tick-block.Tick)*int64(block.Count) + series - block.Series) * int64(block.Width))
	}
	at := len(block.Values)
	for range block.Width {
		block.Values = append(block.Values, 0)
	}
	g.fill(c, d.space[:], series, tick, 1, block.Values[at+c.place:], block.Width)
	return int32(at)
}

var _ dataset.Irregular = (*IoT)(nil)
