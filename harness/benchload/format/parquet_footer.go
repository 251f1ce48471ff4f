package format

import "encoding/binary"

// Repetition of columns, and the types that say more than the physical ones.
const (
	parquetRequired = 0
	parquetOptional = 1
	convertedUTF8   = 0
	logicalString   = 1
	logicalTime     = 8
	unitNanoseconds = 3
)

// Footer returns the metadata of the file, its length, and the magic word.
func (f *parquetFile) Footer() []byte {
	t := thrift{}
	t.begin()
	t.int32(1, 2) // version of the format
	t.list(2, thriftStruct, 1+len(f.columns))
	t.begin()
	t.binary(4, "schema")
	t.int32(5, len(f.columns))
	t.end()
	for i := range f.columns {
		f.columns[i].schema(&t)
	}
	t.int64(3, f.rows)
	t.list(4, thriftStruct, len(f.groups))
	for i := range f.groups {
		f.group(&t, &f.groups[i])
	}
	t.list(5, thriftStruct, 1)
	t.begin()
	t.binary(1, "table")
	t.binary(2, f.name)
	t.end()
	t.binary(6, "benchload")
	t.end()
	text := binary.LittleEndian.AppendUint32(t.text, uint32(len(t.text)))
	return append(text, parquetMagic...)
}

// schema writes what a column is.
func (c *parquetColumn) schema(t *thrift) {
	t.begin()
	t.int32(1, c.kind)
	if c.optional {
		t.int32(3, parquetOptional)
	} else {
		t.int32(3, parquetRequired)
	}
	t.binary(4, c.name)
	if c.isTag {
		t.int32(6, convertedUTF8)
		t.open(10)
		t.open(logicalString)
		t.end()
		t.end()
	}
	if c.isTime {
		t.open(10)
		t.open(logicalTime)
		t.field(1, thriftTrue) // in UTC
		t.open(2)
		t.open(unitNanoseconds)
		t.end()
		t.end()
		t.end()
		t.end()
	}
	t.end()
}

// group writes where the columns of a row group are.
func (f *parquetFile) group(t *thrift, group *rowGroup) {
	t.begin()
	t.list(1, thriftStruct, len(f.columns))
	at := group.start
	for i := range f.columns {
		f.columns[i].place(t, at, group.rows, group.chunks[i])
		at += int64(group.chunks[i].whole)
	}
	t.int64(2, at-group.start)
	t.int64(3, group.rows)
	t.end()
}

// place writes where a column of a row group is.
func (c *parquetColumn) place(t *thrift, at, rows int64, size chunkSize) {
	t.begin()
	t.int64(2, at)
	t.open(3)
	t.int32(1, c.kind)
	if c.isTag {
		t.list(2, thriftInt32, 3)
		t.number(encodingPlain) // of the dictionary
		t.number(encodingRLE)
		t.number(encodingDictionary)
	} else {
		t.list(2, thriftInt32, 2)
		t.number(encodingPlain)
		t.number(encodingRLE)
	}
	t.list(3, thriftBinary, 1)
	t.string(c.name)
	t.int32(4, 0) // not compressed
	t.int64(5, rows)
	t.int64(6, int64(size.whole))
	t.int64(7, int64(size.whole))
	t.int64(9, at+int64(size.dictionary))
	if c.isTag {
		t.int64(11, at)
	}
	t.end()
	t.end()
}
