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

// values are the values of one record's fields. A value is its version, a dot, and the
// digits of the key's digest from a place on that follows from field and version. So a
// value of another record, field or version is found, at the cost of one digest for each
// record.
type values struct {
	digits []byte // repeated
	size   int
}

// valuesOf returns the values of a record.
func valuesOf(key string, size int) values {
	sum := sha256.Sum256([]byte(key))
	return values{bytes.Repeat(hex.AppendEncode(nil, sum[:]), 2+size/(2*sha256.Size)), size}
}

// append appends the value of a field in a version.
func (v values) append(into []byte, field int, version uint64) []byte {
	end := len(into) + v.size
	into = append(strconv.AppendUint(into, version, 16), '.')
	start := int((uint64(field) + 11*version) % (2 * sha256.Size))
	return append(into, v.digits[start:start+end-len(into)]...)
}

// fill generates all fields in a version.
func (r *Record) fill(fields, size int, version uint64) {
	if len(r.Fields) != fields {
		r.Fields = make([][]byte, fields)
	}
	written := valuesOf(r.Key, size)
	for i := range r.Fields {
		r.Fields[i] = written.append(r.Fields[i][:0], i, version)
	}
}

// check is a failure if a field is missing or has a value that was never written to it.
func (r *Record) check(fields, size int) error {
	if len(r.Fields) != fields {
		return wrong("a record has %d fields in place of %d", len(r.Fields), fields)
	}
	written := valuesOf(r.Key, size)
	var expected []byte
	for i, value := range r.Fields {
		text, _, _ := bytes.Cut(value, []byte{'.'})
		version, err := strconv.ParseUint(string(text), 16, 64)
		if err == nil {
			expected = written.append(expected[:0], i, version)
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
