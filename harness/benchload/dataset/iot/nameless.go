package iot

import "benchbook/benchload/walk"

// Rows without the name of their truck could be the same series as those of
// another truck, and a server would keep one of two such rows of one time. So
// that no row is lost, the trucks are cut into lanes; in each of them at most one
// is without its name at a tick, and none that has all other tags in common with
// one of a lane before it.

// laneTrucks is the number of trucks of a lane.
const laneTrucks = 512

// nameOdds is the chance of a row to be without the name, 0.18 %, of 1<<32.
const nameOdds = 7_730_941

// noTag is the tag that a row lacks, or -1.
func (g *IoT) noTag(fate fate, tick, table, truck int64) int8 {
	lane := truck / laneTrucks
	if g.candidate(lane, tick, table) == truck {
		for before := range lane {
			if other := g.candidate(before, tick, table); other >= 0 && g.alike(other, truck) {
				return fate.noTag()
			}
		}
		return 0
	}
	return fate.noTag()
}

// candidate is the truck of a lane that may be without its name, or -1.
func (g *IoT) candidate(lane, tick, table int64) int64 {
	random := walk.At(g.names, uint64(lane)<<33|uint64(tick)<<1|uint64(table))
	trucks := uint64(min(laneTrucks, g.extent.Scale-lane*laneTrucks))
	if random>>32 >= trucks*nameOdds {
		return -1
	}
	return lane*laneTrucks + int64(random&(1<<32-1)*trucks>>32)
}

// alike reports whether two trucks have all tags but the name in common.
func (g *IoT) alike(a, b int64) bool {
	for tag := 1; tag < len(tags); tag++ {
		if choice(g.extent.Seed, a, tag) != choice(g.extent.Seed, b, tag) {
			return false
		}
	}
	return true
}
