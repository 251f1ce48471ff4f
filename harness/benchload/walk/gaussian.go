package walk

import (
	_ "embed" // for the table below
	"math/bits"
	"strconv"
	"strings"
)

// zBits is the number of binary places of a normal deviate; |z| < 8 fits a uint64.
const zBits = 61

// cells is how many pieces each of the two tables of the half normal law has.
const cells = 1024

// gaussianTable holds the borders of the cells, one integer a line, in units
// of 2^-zBits. It is data and not computed at start because math.Erfinv may
// round differently from one architecture to another. gaussian_test.go derives
// it again.
//
//go:embed gaussian.table
var gaussianTable string

// cell is one piece of the inverse distribution function of |Z|, linear inside.
type cell struct{ start, width uint64 }

// body covers |Z| with probability 1-1/1024 in cells of equal probability, and
// tail covers the rest in 1024 cells again. The very last cell (probability
// 2^-20) ends at 5.28: deviates beyond it do not occur. The end is chosen so that
// the cell has the second moment of the tail beyond its start.
var body, tail = readGaussian(gaussianTable)

// readGaussian parses the borders: cells+1 of the body, then cells+1 of the tail.
func readGaussian(text string) (body, tail [cells]cell) {
	lines := strings.Fields(text)
	if len(lines) != 2*(cells+1) {
		panic("walk: gaussian.table has " + strconv.Itoa(len(lines)) + " lines")
	}
	border := make([]uint64, len(lines))
	for i, line := range lines {
		value, err := strconv.ParseUint(line, 10, 64)
		if err != nil {
			panic("walk: gaussian.table: " + err.Error())
		}
		border[i] = value
	}
	for i := range cells {
		body[i] = cell{border[i], border[i+1] - border[i]}
		tail[i] = cell{border[cells+1+i], border[cells+2+i] - border[cells+1+i]}
	}
	return body, tail
}

// Normal turns 64 random bits into a normal deviate times scale, where scale
// is given in units of 2^-3 (zBits + 3 = 64, so the product needs no shift).
//
// Bit 63 is the sign, the next ten choose the cell, the rest the place in it.
func Normal(h, scale uint64) int64 {
	index := h >> 53 & (cells - 1)
	place := h << 11
	c := &body[index]
	if index == cells-1 {
		c = &tail[place>>54]
		place <<= 10
	}
	inside, _ := bits.Mul64(c.width, place)
	size, _ := bits.Mul64(c.start+inside, scale)
	sign := int64(h) >> 63
	return (int64(size) ^ sign) - sign
}
