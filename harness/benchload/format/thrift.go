package format

import "encoding/binary"

// thrift writes structures in Thrift's compact protocol, which the headers of
// pages and the footer of a Parquet file are in.
type thrift struct {
	text []byte
	last []int // the field written last, of each open structure
}

// Types of fields, in the compact protocol.
const (
	thriftTrue   = 1
	thriftInt32  = 5
	thriftInt64  = 6
	thriftBinary = 8
	thriftList   = 9
	thriftStruct = 12
)

// field writes the head of a field of the open structure.
func (t *thrift) field(number int, kind byte) {
	top := len(t.last) - 1
	t.text = append(t.text, byte(number-t.last[top])<<4|kind)
	t.last[top] = number
}

// begin opens a structure that is no field: the outermost, or one of a list.
func (t *thrift) begin() { t.last = append(t.last, 0) }

// open opens a structure that is a field.
func (t *thrift) open(number int) {
	t.field(number, thriftStruct)
	t.begin()
}

// end closes a structure.
func (t *thrift) end() {
	t.text = append(t.text, 0)
	t.last = t.last[:len(t.last)-1]
}

// list writes the head of a list; its items follow.
func (t *thrift) list(number int, kind byte, length int) {
	t.field(number, thriftList)
	if length < 15 {
		t.text = append(t.text, byte(length)<<4|kind)
		return
	}
	t.text = binary.AppendUvarint(append(t.text, 0xF0|kind), uint64(length))
}

// number writes a whole number without a head: an item of a list.
func (t *thrift) number(value int64) { t.text = binary.AppendVarint(t.text, value) }

// int32 writes a field.
func (t *thrift) int32(number int, value int) {
	t.field(number, thriftInt32)
	t.number(int64(value))
}

// int64 writes a field.
func (t *thrift) int64(number int, value int64) {
	t.field(number, thriftInt64)
	t.number(value)
}

// string writes a text without a head: an item of a list.
func (t *thrift) string(text string) {
	t.text = append(binary.AppendUvarint(t.text, uint64(len(text))), text...)
}

// binary writes a field.
func (t *thrift) binary(number int, text string) {
	t.field(number, thriftBinary)
	t.string(text)
}
