package ycsb

import (
	"math"
	"math/rand/v2"
)

// distribution is how records are chosen.
type distribution string

const (
	own       distribution = "own" // that of the workload
	zipfianly distribution = "zipfian"
	latest    distribution = "latest"
	uniform   distribution = "uniform"
)

// Names returns the allowed ones.
func (distribution) Names() []string {
	return []string{string(own), string(zipfianly), string(latest), string(uniform)}
}

// chooser chooses records for one worker.
type chooser struct {
	choice distribution
	space  int64
	draw   *rand.Rand
	ranks  *zipfian
}

// Constants of YCSB: the skew, and the items and their zeta among which it draws ranks
// before it scatters them, so that which records are popular does not depend on how many
// there are.
const (
	skew           = 0.99
	scrambledItems = 10_000_000_000
	scrambledZeta  = 26.46902820178302
)

// newChooser returns a chooser among so many records.
func newChooser(choice distribution, space int64, draw *rand.Rand) chooser {
	c := chooser{choice: choice, space: space, draw: draw}
	switch choice {
	case zipfianly:
		c.ranks = &zipfian{zeta: scrambledZeta}
		c.ranks.resize(scrambledItems)
	case latest:
		c.ranks = &zipfian{}
	}
	return c
}

// next returns the number of a record among the first held ones.
func (c *chooser) next(held int64) int64 {
	switch c.choice {
	case zipfianly:
		for {
			if number := hash(c.ranks.next(c.draw.Float64())) % c.space; number < held {
				return number
			}
		}
	case latest:
		c.ranks.grow(held)
		return held - 1 - c.ranks.next(c.draw.Float64())
	default:
		return c.draw.Int64N(held)
	}
}

// zipfian draws ranks from 0, of which few are frequent, by the method of Gray et al.,
// "Quickly generating billion-record synthetic databases" (SIGMOD 1994).
type zipfian struct {
	items     int64
	zeta, eta float64
}

// grow adds ranks.
func (z *zipfian) grow(items int64) {
	if items == z.items {
		return
	}
	for i := z.items + 1; i <= items; i++ {
		z.zeta += 1 / math.Pow(float64(i), skew)
	}
	z.resize(items)
}

// resize sets what follows from the number of ranks and its zeta.
func (z *zipfian) resize(items int64) {
	z.items = items
	two := 1 + math.Pow(0.5, skew)
	z.eta = (1 - math.Pow(2/float64(items), 1-skew)) / (1 - two/z.zeta)
}

// next returns the rank of a number from 0 to 1.
func (z *zipfian) next(at float64) int64 {
	scaled := at * z.zeta
	switch {
	case scaled < 1 || z.items < 2:
		return 0
	case scaled < 1+math.Pow(0.5, skew):
		return 1
	}
	rank := int64(float64(z.items) * math.Pow(z.eta*at-z.eta+1, 1/(1-skew)))
	return min(rank, z.items-1)
}
