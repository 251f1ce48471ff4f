package format

import (
	"encoding/binary"
	"math"
	"math/bits"

	"benchbook/benchload/dataset"
)

// parquetChunk gathers one column of a row group.
type parquetChunk struct {
	column  *parquetColumn
	plain   []byte            // values, or the entries of the dictionary
	known   map[string]uint32 // entries of the dictionary
	entries []uint32          // of the rows that have one
	present []uint32          // of each row, one or zero
}

// Encodings of Parquet.
const (
	encodingPlain      = 0
	encodingRLE        = 3
	encodingDictionary = 8
)

// Kinds of pages.
const (
	pageData       = 0
	pageDictionary = 2
)

// null adds a row without a value.
func (c *parquetChunk) null() {
	c.present = append(c.present, 0)
}

// word adds a row with a value of eight bytes.
func (c *parquetChunk) word(word uint64) {
	c.plain = binary.LittleEndian.AppendUint64(c.plain, word)
	c.mark()
}

// mark says that a row has a value.
func (c *parquetChunk) mark() {
	if c.column.optional {
		c.present = append(c.present, 1)
	}
}

// value adds a row with a field.
func (c *parquetChunk) value(field *dataset.Field, value int64) {
	if field.Kind == dataset.Integer {
		c.word(uint64(value))
	} else {
		c.word(math.Float64bits(float(field, value)))
	}
}

// entry adds a row with a text.
func (c *parquetChunk) entry(text []byte) {
	entry, ok := c.known[string(text)]
	if !ok {
		entry = uint32(len(c.known))
		c.known[string(text)] = entry
		c.plain = append(binary.LittleEndian.AppendUint32(c.plain, uint32(len(text))), text...)
	}
	c.entries = append(c.entries, entry)
	c.mark()
}

// bytes is about how long the chunk becomes.
func (c *parquetChunk) bytes() int { return len(c.plain) + 4*len(c.entries) + len(c.present)/8 + 128 }

// finish appends the pages of the chunk, returns how long the dictionary is, and
// begins the next chunk.
func (c *parquetChunk) finish(text []byte, rows int) (all []byte, dictionary int) {
	var body []byte
	if c.column.optional {
		levels := appendHybrid(nil, c.present, 1)
		body = append(binary.LittleEndian.AppendUint32(body, uint32(len(levels))), levels...)
	}
	encoding := encodingPlain
	if c.column.isTag {
		encoding = encodingDictionary
		before := len(text)
		text = appendPage(text, pageDictionary, len(c.known), encodingPlain, c.plain)
		dictionary = len(text) - before
		width := bits.Len32(uint32(max(len(c.known)-1, 1)))
		body = appendHybrid(append(body, byte(width)), c.entries, width)
	} else {
		body = append(body, c.plain...)
	}
	text = appendPage(text, pageData, rows, encoding, body)
	c.plain, c.entries, c.present = c.plain[:0], c.entries[:0], c.present[:0]
	clear(c.known)
	return text, dictionary
}

// appendPage appends the header of a page and its body.
func appendPage(text []byte, kind, values, encoding int, body []byte) []byte {
	t := thrift{text: text}
	t.begin()
	t.int32(1, kind)
	t.int32(2, len(body)) // uncompressed
	t.int32(3, len(body)) // compressed
	if kind == pageData {
		t.open(5)
		t.int32(1, values)
		t.int32(2, encoding)
		t.int32(3, encodingRLE) // of definition levels
		t.int32(4, encodingRLE) // of repetition levels, which there are none of
	} else {
		t.open(7)
		t.int32(1, values)
		t.int32(2, encoding)
	}
	t.end()
	t.end()
	return append(t.text, body...)
}

// appendHybrid appends numbers of so many bits as one run: of one number many
// times, or packed in groups of eight, the first in the lowest bits.
func appendHybrid(text []byte, numbers []uint32, width int) []byte {
	same := true
	for _, n := range numbers {
		same = same && n == numbers[0]
	}
	if len(numbers) > 0 && same {
		text = binary.AppendUvarint(text, uint64(len(numbers))<<1)
		for ; width > 0; width -= 8 {
			text = append(text, byte(numbers[0]))
			numbers[0] >>= 8
		}
		return text
	}
	groups := (len(numbers) + 7) / 8
	text = binary.AppendUvarint(text, uint64(groups)<<1|1)
	word, held := uint64(0), 0
	for i := range groups * 8 {
		if i < len(numbers) {
			word |= uint64(numbers[i]) << held
		}
		for held += width; held >= 8; held -= 8 {
			text = append(text, byte(word))
			word >>= 8
		}
	}
	return text
}
