package ycsb

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"

	"benchbook/benchload/system"
)

// Record is a record: its key and its fields in order.
type Record struct {
	Key    string
	Fields [][]byte
}

// hash is YCSB's FNV hash of a number, which spreads neighbours.
func hash(number int64) int64 {
	const offset, prime = 0xCBF29CE484222325, 1099511628211
	left, hashed := uint64(number), uint64(offset)
	for range 8 {
		hashed = (hashed ^ left&0xff) * prime
		left >>= 8
	}
	if signed := int64(hashed); signed < 0 {
		return -signed
	}
	return int64(hashed)
}

// keyOf is the key of the record of a number.
func keyOf(number int64) string { return "user" + strconv.FormatInt(hash(number), 10) }

// appendValue appends the value of a field: its version, a dot, and digits that follow
// from key, field and version, so that every value that is read can be checked.
func appendValue(into []byte, key string, field int, version uint64, size int) []byte {
	end := len(into) + size
	into = append(strconv.AppendUint(into, version, 16), '.')
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%d/%x", key, field, version))
	var digits [2 * sha256.Size]byte
	hex.Encode(digits[:], sum[:])
	for len(into) < end {
		into = append(into, digits[:min(len(digits), end-len(into))]...)
	}
	return into
}

// fill generates all fields in a version.
func (r *Record) fill(fields, size int, version uint64) {
	if len(r.Fields) != fields {
		r.Fields = make([][]byte, fields)
	}
	for i := range r.Fields {
		r.Fields[i] = appendValue(r.Fields[i][:0], r.Key, i, version, size)
	}
}

// check is a failure if a field is missing or has a value that was never written to it.
func (r *Record) check(fields, size int) error {
	if len(r.Fields) != fields {
		return wrong("a record has %d fields in place of %d", len(r.Fields), fields)
	}
	var expected []byte
	for i, value := range r.Fields {
		text, _, _ := bytes.Cut(value, []byte{'.'})
		version, err := strconv.ParseUint(string(text), 16, 64)
		if err == nil {
			expected = appendValue(expected[:0], r.Key, i, version, size)
		}
		if err != nil || !bytes.Equal(value, expected) {
			return wrong("a field has a value that was never written to it")
		}
	}
	return nil
}

// size is the bytes of all fields.
func (r *Record) size() int64 {
	size := 0
	for _, value := range r.Fields {
		size += len(value)
	}
	return int64(size)
}

// wrong is the failure of an answer.
func wrong(sentence string, values ...any) error {
	return &system.Failure{Kind: system.BadAnswer, Message: fmt.Sprintf(sentence, values...)}
}
