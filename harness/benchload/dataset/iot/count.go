package iot

import (
	"math/bits"

	"benchbook/benchload/dataset"
)

// CountRows returns how many rows of some trucks are written from tick first to end-1.
func (g *IoT) CountRows(first, end, series, count int64) int64 {
	e := g.extent
	if from, to := e.Ticks(); first == from && end == to && series == e.SeriesFirst && count == e.SeriesCount {
		return g.count()
	}
	return g.countRows(first, end, series, count)
}

// countRows counts the rows that are not missing, and moves those that are held
// back over the borders.
func (g *IoT) countRows(first, end, series, count int64) int64 {
	if first >= end {
		return 0
	}
	rows := int64(0)
	for s := series; s < series+count; s++ {
		for i := range g.chosen {
			key := g.missingKey(s, g.chosen[i].id)
			for word := first >> 6; word<<6 < end; word++ {
				rows += int64(bits.OnesCount64(^missing(key, word) & inside(word, first, end)))
			}
		}
	}
	g.crossing(first, series, count, func(late) { rows++ })
	g.crossing(end, series, count, func(late) { rows-- })
	return rows
}

// Held is the most rows that a row is held back behind.
func (g *IoT) Held() int64 { return maxHeld }

// inside has a one for each tick of a word from first to end-1.
func inside(word, first, end int64) uint64 {
	from, to := max(first-word<<6, 0), min(end-word<<6, 64)
	return ^uint64(0) << from & (^uint64(0) >> (64 - to))
}

// late is a row that is written at a later tick than its own.
type late struct {
	tick, series int64
	table        *chosen
	fate         fate
}

// crossing visits the rows of some trucks from before a tick that are written
// at it or later. Rows made are numbered by tick, then table, then truck; a row
// is written with the tick of the one that it is held back behind.
func (g *IoT) crossing(tick, series, count int64, visit func(late)) {
	if tick <= 0 || tick >= g.ticks {
		return // nothing comes before the first tick, and the last one takes all
	}
	border := tick * g.perTick
	for made := max(border-maxHeld, 0); made < border; made++ {
		table, truck := made%g.perTick/g.extent.Scale, made%g.extent.Scale
		c := g.chosenTable(table)
		if c == nil || truck < series || truck >= series+count {
			continue
		}
		own := made / g.perTick
		fate := fateOf(g.fateKey(truck), own, table)
		if made+fate.held() >= border && !g.isMissing(truck, table, own) {
			visit(late{own, truck, c, fate})
		}
	}
}

// chosenTable is the table with this number, if the extent asks for it.
func (g *IoT) chosenTable(id int64) *chosen {
	for i := range g.chosen {
		if g.chosen[i].id == id {
			return &g.chosen[i]
		}
	}
	return nil
}

// Census counts the extent's rows of each table and values of each field.
func (g *IoT) Census() []dataset.TableCount {
	counts := make([]dataset.TableCount, len(g.tables))
	absent := make([][]int64, len(g.tables))
	for i := range g.tables {
		absent[i] = make([]int64, len(g.tables[i].Fields))
	}
	add := func(c *chosen, fate fate, rows int64) {
		table := g.place(c)
		counts[table].Rows += rows
		if field := fate.noField(len(c.columns)); field >= 0 {
			absent[table][field] += rows
		}
	}
	e := g.extent
	first, end := e.Ticks()
	for s := e.SeriesFirst; s < e.SeriesFirst+e.SeriesCount && first < end; s++ {
		fates := g.fateKey(s)
		for i := range g.chosen {
			c := &g.chosen[i]
			key := g.missingKey(s, c.id)
			for word := first >> 6; word<<6 < end; word++ {
				for left := ^missing(key, word) & inside(word, first, end); left != 0; left &= left - 1 {
					tick := word<<6 + int64(bits.TrailingZeros64(left))
					add(c, fateOf(fates, tick, c.id), 1)
				}
			}
		}
	}
	if first < end {
		g.crossing(first, e.SeriesFirst, e.SeriesCount, func(l late) { add(l.table, l.fate, 1) })
		g.crossing(end, e.SeriesFirst, e.SeriesCount, func(l late) { add(l.table, l.fate, -1) })
	}
	for i := range counts {
		counts[i].Values = absent[i]
		for field := range absent[i] {
			absent[i][field] = counts[i].Rows - absent[i][field]
		}
	}
	return counts
}

// place is the place of a table among those asked for.
func (g *IoT) place(c *chosen) int {
	for i := range g.chosen {
		if &g.chosen[i] == c {
			return i
		}
	}
	panic("iot: a table that was not asked for")
}
