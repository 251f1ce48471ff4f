package format

// Columns is a Parquet file that is filled one value at a time: of whole numbers
// and of texts that repeat. It is written as Parquet is, without compression.
type Columns struct {
	parquetFile
	chunks []parquetChunk
	rows   int
	last   []lastText // of each column
}

// lastText is the text that a column got last, which mostly comes again.
type lastText struct {
	text  string
	entry uint32
	known bool
}

// NewColumns prepares the file of a table. Columns named in texts hold text, the
// others whole numbers.
func NewColumns(table string, names []string, texts ...string) *Columns {
	c := &Columns{parquetFile: parquetFile{name: table, size: int64(len(parquetMagic))}, last: make([]lastText, len(names))}
	for _, name := range names {
		column := parquetColumn{name: name, kind: parquetInt64}
		for _, text := range texts {
			if name == text {
				column.kind, column.isTag = parquetBytes, true
			}
		}
		c.columns = append(c.columns, column)
	}
	c.chunks = make([]parquetChunk, len(names))
	for i := range c.chunks {
		c.chunks[i].column = &c.columns[i]
		c.chunks[i].known = map[string]uint32{}
	}
	return c
}

// Number gives a column its value of the row.
func (c *Columns) Number(column int, value int64) { c.chunks[column].word(uint64(value)) }

// Text gives a column its value of the row.
func (c *Columns) Text(column int, value string) {
	chunk, last := &c.chunks[column], &c.last[column]
	if last.known && last.text == value {
		chunk.entries = append(chunk.entries, last.entry)
		return
	}
	chunk.entry([]byte(value))
	*last = lastText{value, chunk.entries[len(chunk.entries)-1], true}
}

// EndRow ends a row, of which every column has its value, and returns the number of
// rows in the row group.
func (c *Columns) EndRow() int {
	c.rows++
	return c.rows
}

// RowGroup appends the rows since the last one as a row group; none for no rows.
func (c *Columns) RowGroup(text []byte) []byte {
	if c.rows == 0 {
		return text
	}
	before := len(text)
	text = finishChunks(text, c.chunks, c.rows)
	c.rows = 0
	clear(c.last)
	return text[:before+len(c.Place(text[before:]))]
}
