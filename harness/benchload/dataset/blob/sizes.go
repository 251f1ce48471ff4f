package blob

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"strconv"
	"strings"

	"benchbook/benchload/walk"
)

// MaxSize is the largest size of an object.
const MaxSize = 1 << 30

// Sizes is the law of the sizes of objects.
type Sizes struct {
	text      string
	least     int64  // of a uniform law; the median of a lognormal one
	most      int64  // of a uniform law
	deviation uint64 // of the binary logarithm, in units of 2^-32-3; zero for a uniform law
}

// ParseSizes reads a law: "4KiB", "uniform:1KiB:16KiB" or "lognormal:4KiB:1",
// which is the median and the deviation of the natural logarithm.
func ParseSizes(text string) (Sizes, error) {
	parts := strings.Split(text, ":")
	s := Sizes{text: text}
	var err error
	switch {
	case len(parts) == 1:
		s.least, err = parseSize(parts[0])
		s.most = s.least
	case parts[0] == "uniform" && len(parts) == 3:
		if s.least, err = parseSize(parts[1]); err == nil {
			s.most, err = parseSize(parts[2])
		}
		if err == nil && s.most < s.least {
			err = fmt.Errorf("%s is below %s", parts[2], parts[1])
		}
	case parts[0] == "lognormal" && len(parts) == 3:
		if s.least, err = parseSize(parts[1]); err == nil {
			s.deviation, err = parseDeviation(parts[2])
		}
	default:
		err = fmt.Errorf("it is not a form like 4KiB, uniform:1KiB:16KiB, lognormal:4KiB:1")
	}
	if err != nil {
		return Sizes{}, fmt.Errorf("%q is not a law of sizes: %w", text, err)
	}
	return s, nil
}

// String returns the text of the law.
func (s Sizes) String() string { return s.text }

// units are what a size may end with.
var units = []struct {
	name string
	size int64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"B", 1}, {"", 1}}

// parseSize reads a size like 512B or 4KiB.
func parseSize(text string) (int64, error) {
	for _, unit := range units {
		digits, ok := strings.CutSuffix(text, unit.name)
		if !ok {
			continue
		}
		number, err := strconv.ParseInt(digits, 10, 64)
		if err != nil || number < 1 || number > MaxSize/unit.size {
			return 0, fmt.Errorf("%q is not a size from 1B to 1GiB, like 512B or 4KiB", text)
		}
		return number * unit.size, nil
	}
	panic("blob: the last unit fits every text")
}

// parseDeviation reads the deviation of the natural logarithm, as that of the
// binary one in units of 2^-35.
func parseDeviation(text string) (uint64, error) {
	number, err := strconv.ParseFloat(text, 64)
	if err != nil || !(number > 0 && number <= 4) {
		return 0, fmt.Errorf("%q is not a deviation above 0 and up to 4", text)
	}
	// Products are rounded alike everywhere, as long as nothing is added.
	return max(uint64(number*math.Log2E*(1<<35)), 1), nil
}

// size is the size that 64 random bits choose.
func (s Sizes) size(random uint64) int64 {
	if s.deviation == 0 {
		high, _ := bits.Mul64(random, uint64(s.most-s.least+1))
		return s.least + int64(high)
	}
	power := walk.Normal(random, s.deviation) // of two, in units of 2^-32
	whole, part := power>>32, uint32(power)
	scaled, low := bits.Mul64(uint64(s.least)<<32, exp2(part)) // exp2 is in units of 2^-62
	scaled = scaled<<2 | low>>62                               // the size in units of 2^-32
	switch {
	case whole >= 0 && bits.Len64(scaled)+int(whole) > 62:
		return MaxSize
	case whole >= 0:
		scaled <<= whole
	default:
		scaled >>= min(-whole, 63)
	}
	return min(max(int64(scaled>>32), 1), MaxSize)
}

// roots are 2^(1/2), 2^(1/4), … in units of 2^-62. They are made with integers,
// because floating point may be rounded differently on some architectures.
var roots = func() (roots [32]uint64) {
	square := new(big.Int).Lsh(big.NewInt(2), 124) // 2 in units of 2^-124
	for i := range roots {
		root := new(big.Int).Sqrt(square)
		roots[i] = root.Uint64()
		square.Lsh(root, 62)
	}
	return roots
}()

// exp2 is 2^(part/2^32) in units of 2^-62.
func exp2(part uint32) uint64 {
	result := uint64(1) << 62
	for i := range roots {
		if part>>(31-i)&1 != 0 {
			high, low := bits.Mul64(result, roots[i])
			result = high<<2 | low>>62
		}
	}
	return result
}
