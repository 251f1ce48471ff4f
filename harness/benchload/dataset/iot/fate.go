package iot

import "benchbook/benchload/walk"

// fate is what happens to one row that is not missing: 16 random bits each for
// being late, for lacking a field and for lacking a tag.
type fate uint64

// Chances of the fates, of 1<<16. Of the rows of the published dataset 19.0 %
// come after one that was generated later, 9.0 % lack a field and 0.9 % a tag.
const (
	heldOdds  = 12419
	fieldOdds = 5898
	tagOdds   = 590
)

// Of all rows 9.96 % are missing, which is 51 in 2^9; in the published dataset,
// 113,586,190 of 126,144,000 are left, so it is 9.955 %.
const (
	missingOdds = 51
	missingBits = 9
)

// maxHeld is the most rows that a row is held back behind.
const maxHeld = 127

// heldWeights is how often a row that is held back comes after 1, 2, … rows
// that were made after it, of 10,000. The use case puts single rows and batches
// of ten into queues and takes them out by chance; these are the frequencies
// seen in four million rows, of which the humps are that of the batches.
var heldWeights = [...]uint16{
	8, 40, 106, 206, 322, 447, 568, 665, 729, 735, 669, 551, 435, 346, 296, 271, 268, 274, 276, 263,
	244, 215, 180, 147, 126, 113, 106, 105, 101, 98, 91, 83, 73, 62, 55, 49, 46, 43, 42, 40,
	39, 35, 33, 29, 25, 23, 20, 19, 19, 18, 18, 16, 15, 14, 12, 11, 10, 9, 9, 8,
	8, 7, 7, 6, 6, 5, 5, 5, 4, 4, 4, 4, 3, 3, 3, 3, 3, 3, 2, 2,
	2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 0, 1, 0, 1, 0,
	1, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0,
	0, 0, 0, 0, 0, 0, 1,
}

// heldBy turns an even draw into the number of rows that a row is held back.
var heldBy = func() (by [heldOdds]uint8) {
	total := 0
	for _, weight := range heldWeights {
		total += int(weight)
	}
	rows, sum := 0, int(heldWeights[0])
	for draw := range by {
		for draw*total >= sum*heldOdds {
			rows++
			sum += int(heldWeights[rows])
		}
		by[draw] = uint8(rows + 1)
	}
	return by
}()

// held is behind how many later rows the row stands.
func (f fate) held() int64 {
	if draw := f >> 48; draw < heldOdds {
		return int64(heldBy[draw])
	}
	return 0
}

// noField is the field that the row lacks, or -1. The use case draws one of the
// ten of the larger table; in the smaller one the first ones come up twice.
func (f fate) noField(fields int) int8 {
	if draw := f >> 16 & 0xFFFF; draw < fieldOdds {
		return int8(int(draw*10/fieldOdds) % fields)
	}
	return -1
}

// noTag is the tag that the row lacks, or -1; never the name.
func (f fate) noTag() int8 {
	if draw := f & 0xFFFF; draw < tagOdds {
		if tag := int8(draw * fate(len(tags)) / tagOdds); tag > 0 {
			return tag
		}
	}
	return -1
}

// fateKey is the stream of the fates of a truck's rows.
func (g *IoT) fateKey(series int64) uint64 {
	return walk.Key(g.extent.Seed, uint64(series), streamFates)
}

// fateOf is the fate of one row.
func fateOf(fateKey uint64, tick, table int64) fate {
	return fate(walk.At(fateKey, uint64(tick)<<1|uint64(table)))
}

// missingKey is the stream of what is missing of a truck's rows in one table.
func (g *IoT) missingKey(series, table int64) uint64 {
	return walk.Key(g.extent.Seed, uint64(series), streamMissing, uint64(table))
}

// missing has a bit for each of 64 ticks, which is one where there is no row.
func missing(missingKey uint64, word int64) uint64 {
	return chance(missingKey, uint64(word), missingOdds, missingBits)
}

// isMissing reports whether there is no row.
func (g *IoT) isMissing(series, table, tick int64) bool {
	return missing(g.missingKey(series, table), tick>>6)>>(tick&63)&1 != 0
}
