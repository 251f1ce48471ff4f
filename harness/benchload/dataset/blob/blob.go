// Package blob generates small objects of incompressible bytes. Each object is a pure
// function of the seed and its number, so any number of workers can generate any of
// them.
package blob

import (
	"encoding/binary"
	"strconv"

	"benchbook/benchload/walk"
)

// Streams of random numbers; they are part of what the bytes depend on: never renumber.
const (
	streamSizes = iota
	streamContent
	streamKeys
)

// golden is the increment of a stream of package walk; the others are its
// multiples, modulo 2^64.
const (
	golden      = 0x9E3779B97F4A7C15
	goldenTwice = golden * 2 & (1<<64 - 1)
	goldenThree = golden * 3 & (1<<64 - 1)
	goldenFour  = golden * 4 & (1<<64 - 1)
)

// Set is a dataset of objects, numbered from zero.
type Set struct {
	Seed  uint64
	Count int64
	Sizes Sizes
}

// Size is the number of bytes of one object.
func (s *Set) Size(object int64) int64 {
	return s.Sizes.size(walk.At(walk.Key(s.Seed, streamSizes), uint64(object)))
}

// AppendKey appends the name of one object: its number, after two digits of a
// hash that spread the names evenly over 256 folders.
func (s *Set) AppendKey(text []byte, object int64) []byte {
	const hex, padding = "0123456789abcdef", "0000000000"
	folder := walk.Key(s.Seed, streamKeys, uint64(object)) >> 56
	text = append(text, hex[folder>>4], hex[folder&15], '/')
	var digits [20]byte
	number := strconv.AppendInt(digits[:0], object, 10)
	text = append(text, padding[min(len(number), len(padding)):]...)
	return append(text, number...)
}

// Object makes one object in the memory of the buffer, if that is large enough.
func (s *Set) Object(buffer []byte, object int64) []byte {
	size := int(s.Size(object))
	// Words are written whole, so there is room for one more.
	if cap(buffer) < size+8 {
		buffer = make([]byte, size+8)
	}
	buffer = buffer[:size+8]
	key := walk.Key(s.Seed, streamContent, uint64(object))
	at := 0
	for ; at+32 <= size; at += 32 {
		four := buffer[at : at+32 : at+32]
		binary.LittleEndian.PutUint64(four[0:8], walk.Mix(key))
		binary.LittleEndian.PutUint64(four[8:16], walk.Mix(key+golden))
		binary.LittleEndian.PutUint64(four[16:24], walk.Mix(key+goldenTwice))
		binary.LittleEndian.PutUint64(four[24:32], walk.Mix(key+goldenThree))
		key += goldenFour
	}
	for ; at < size; at += 8 {
		binary.LittleEndian.PutUint64(buffer[at:], walk.Mix(key))
		key += golden
	}
	return buffer[:size]
}
