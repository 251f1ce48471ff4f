package format

import (
	"encoding/binary"
	"slices"

	"benchbook/benchload/dataset"
)

// Parquet is a Parquet file of one table: time, tags, fields. Every piece is a
// row group, made by itself; the offsets of the footer are known when the pieces
// are put in order. Tags are dictionaries, all else is plain, and nothing is
// compressed, so that the bytes are the same on every machine.
type Parquet struct {
	parquetFile
	generator dataset.Generator
	extent    dataset.Extent
	table     *dataset.Table
	nullable  bool
}

// parquetFile is the content of the footer of a file.
type parquetFile struct {
	name    string // of the table
	columns []parquetColumn
	groups  []rowGroup
	rows    int64
	size    int64 // of the file so far
}

// parquetColumn is a column of the file.
type parquetColumn struct {
	name     string
	kind     int // its physical type
	isTime   bool
	isTag    bool
	optional bool
}

// rowGroup says how long the parts of a row group are, and where it begins.
type rowGroup struct {
	start, rows int64
	chunks      []chunkSize
}

// chunkSize is the length of a column in a row group and, in it, of its dictionary.
type chunkSize struct{ dictionary, whole uint32 }

// Physical types of Parquet.
const (
	parquetInt64  = 2
	parquetDouble = 5
	parquetBytes  = 6
)

// parquetMagic is how a file begins and ends.
const parquetMagic = "PAR1"

// NewParquet prepares the file of a dataset with one table.
func NewParquet(generator dataset.Generator) *Parquet {
	f := &Parquet{generator: generator, extent: generator.Extent(), table: &generator.Tables()[0]}
	f.name, f.size = f.table.Name, int64(len(parquetMagic))
	_, f.nullable = generator.(dataset.Irregular) // whose rows lack values
	f.columns = append(f.columns, parquetColumn{name: "time", kind: parquetInt64, isTime: true})
	for _, tag := range f.table.Tags {
		f.columns = append(f.columns, parquetColumn{name: tag, kind: parquetBytes, isTag: true, optional: f.nullable})
	}
	for _, field := range f.table.Fields {
		kind := parquetDouble
		if field.Kind == dataset.Integer {
			kind = parquetInt64
		}
		f.columns = append(f.columns, parquetColumn{name: field.Name, kind: kind, optional: f.nullable})
	}
	return f
}

// Header returns the magic word.
func (f *parquetFile) Header() []byte { return []byte(parquetMagic) }

// Place takes the sizes off the end of a piece, where its renderer has put them.
func (f *parquetFile) Place(piece []byte) []byte {
	end := len(piece) - 4 - 8*len(f.columns)
	group := rowGroup{start: f.size, rows: int64(binary.LittleEndian.Uint32(piece[end:]))}
	for i := range f.columns {
		sizes := piece[end+4+8*i:]
		group.chunks = append(group.chunks, chunkSize{binary.LittleEndian.Uint32(sizes), binary.LittleEndian.Uint32(sizes[4:])})
	}
	f.groups = append(f.groups, group)
	f.rows += group.rows
	f.size += int64(end)
	return piece[:end]
}

// Renderer creates a renderer for one goroutine.
func (f *Parquet) Renderer() Renderer {
	r := &rowGroups{format: f, chunks: make([]parquetChunk, len(f.columns))}
	for i := range r.chunks {
		r.chunks[i].column = &f.columns[i]
		r.chunks[i].known = map[string]uint32{}
	}
	return r
}

// rowGroups is the renderer of Parquet: it gathers rows until Finish.
type rowGroups struct {
	format *Parquet
	chunks []parquetChunk
	rows   int
	tag    []byte
}

// Append gathers rows; the text grows at Finish.
func (r *rowGroups) Append(text []byte, block *dataset.Block, from, end int64) []byte {
	f := r.format
	for number := from; number < end; number++ {
		row := block.Row(number)
		r.chunks[0].word(uint64(f.extent.Time(block.Tick + int64(row.Tick))))
		for tag := range f.table.Tags {
			chunk := &r.chunks[1+tag]
			if tag == int(row.NoTag) {
				chunk.null()
				continue
			}
			r.tag = f.generator.AppendTag(r.tag[:0], block.Series+int64(row.Series), 0, tag)
			chunk.entry(r.tag)
		}
		for i, value := range block.Values[row.At:][:len(f.table.Fields)] {
			chunk := &r.chunks[1+len(f.table.Tags)+i]
			if i == int(row.NoField) {
				chunk.null()
			} else {
				chunk.value(&f.table.Fields[i], value)
			}
		}
	}
	r.rows += int(end - from)
	return text
}

// Finish writes the row group, and the sizes of its parts for Place.
func (r *rowGroups) Finish(text []byte) []byte {
	text = finishChunks(text, r.chunks, r.rows)
	r.rows = 0
	return text
}

// finishChunks writes the chunks of a row group, and the sizes of their parts for Place.
func finishChunks(text []byte, chunks []parquetChunk, rows int) []byte {
	sizes := binary.LittleEndian.AppendUint32(nil, uint32(rows))
	for i := range chunks {
		before := len(text)
		var dictionary int
		text, dictionary = chunks[i].finish(slices.Grow(text, chunks[i].bytes()), rows)
		sizes = binary.LittleEndian.AppendUint32(sizes, uint32(dictionary))
		sizes = binary.LittleEndian.AppendUint32(sizes, uint32(len(text)-before))
	}
	return append(text, sizes...)
}
