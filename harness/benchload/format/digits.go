package format

import (
	"encoding/binary"
	"math/bits"
)

// eight turns n < 10^8 into eight digits (not yet characters), the first one
// in the lowest byte, by dividing all parts of a word at once.
func eight(n uint64) uint64 {
	high := n / 10000
	fours := high | (n-high*10000)<<32
	hundreds := (fours * 10486 >> 20) & 0x7F0000007F
	twos := hundreds | (fours-hundreds*100)<<16
	tens := (twos * 103 >> 10) & 0x000F000F000F000F
	return tens | (twos-tens*10)<<8
}

// zeros turns digits into characters.
const zeros = 0x3030303030303030

// putEight writes n < 10^8 without leading zeros. There must be room for eight bytes.
func putEight(to []byte, at int, n uint64) int {
	digits := eight(n)
	// A mark in the last digit keeps one zero of the number zero.
	leading := bits.TrailingZeros64(digits|1<<56) &^ 7
	binary.LittleEndian.PutUint64(to[at:], (digits|zeros)>>(leading&63))
	return at + 8 - leading>>3
}

// putInteger writes an integer. There must be room for 24 bytes.
func putInteger(to []byte, at int, value int64) int {
	n := uint64(value)
	if value < 0 {
		to[at] = '-'
		at++
		n = -n
	}
	if n < 1e8 {
		return putEight(to, at, n)
	}
	high := n / 1e8
	if high < 1e8 {
		at = putEight(to, at, high)
	} else {
		top := high / 1e8
		at = putEight(to, at, top)
		binary.LittleEndian.PutUint64(to[at:], eight(high-top*1e8)|zeros)
		at += 8
	}
	binary.LittleEndian.PutUint64(to[at:], eight(n%1e8)|zeros)
	return at + 8
}

// putDecimal writes 0 <= value < 10^16 with dataset.DecimalPlaces decimals: one
// or two digits, a point, fourteen digits. There must be room for 24 bytes.
func putDecimal(to []byte, at int, value int64) int {
	high := uint64(value) / 1e8
	digits := eight(high)
	short := 0
	if digits&0xFF == 0 {
		short = 1
	}
	first := digits | zeros
	binary.LittleEndian.PutUint64(to[at:], first>>(short*8&63))
	at += 2 - short
	to[at] = '.'
	binary.LittleEndian.PutUint64(to[at+1:], first>>16)
	binary.LittleEndian.PutUint64(to[at+7:], eight(uint64(value)-high*1e8)|zeros)
	return at + 15
}

// putShort writes a float in units of 10^-places (0, 1 or 5) with no more
// digits than it needs. There must be room for 32 bytes.
func putShort(to []byte, at int, value int64, places uint8) int {
	if places == 0 {
		return putInteger(to, at, value)
	}
	if value < 0 {
		to[at] = '-'
		at++
		value = -value
	}
	whole, rest := uint64(value)/10, uint64(0)
	if places == 1 {
		rest = (uint64(value) - whole*10) * 10_000_000
	} else {
		whole = uint64(value) / 100_000
		rest = (uint64(value) - whole*100_000) * 1_000
	}
	at = putInteger(to, at, int64(whole))
	if rest == 0 {
		return at
	}
	digits := eight(rest)
	to[at] = '.'
	binary.LittleEndian.PutUint64(to[at+1:], digits|zeros)
	return at + 9 - bits.LeadingZeros64(digits)>>3
}
