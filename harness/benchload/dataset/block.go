package dataset

// MaxBlockTicks is the longest stretch of time one block can have.
const MaxBlockTicks = 4096

// Block holds the values of some ticks of some series: the unit of generation. Rows are
// ordered by tick, then series, then table. Its ticks do not cross a multiple of
// MaxBlockTicks, nor of the next power of two of their number.
type Block struct {
	Tick   int64 // the first tick
	Ticks  int
	Series int64 // the first series
	Count  int   // how many series
	Width  int   // values of one series at one tick
	Tables int   // rows of one series at one tick
	First  int64 // number of its first row, in the extent
	Size   int64 // number of its rows

	Values []int64 // of (tick, series, field)
	Listed []Row   // its rows, if the generator is irregular
}

// Row is one row of a block, with the tag or field that it lacks.
type Row struct {
	Tick    int32 // from the block's first one; below zero for late rows of earlier ticks
	Series  int32 // from the block's first one
	At      int32 // place in the block's values of the first value of the row's series and tick
	Table   uint8
	NoField int8 // the field that is absent, or -1
	NoTag   int8 // the tag that is absent, or -1
}

// Row describes one row, counted inside the block.
func (b *Block) Row(row int64) Row {
	if b.Listed != nil {
		return b.Listed[row]
	}
	table := row % int64(b.Tables)
	cell := row / int64(b.Tables)
	return Row{
		Tick: int32(cell / int64(b.Count)), Series: int32(cell % int64(b.Count)), At: int32(cell * int64(b.Width)),
		Table: uint8(table), NoField: -1, NoTag: -1,
	}
}

// At gives the values of one series at one tick, both counted inside the block.
func (b *Block) At(tick, series int) []int64 {
	at := (tick*b.Count + series) * b.Width
	return b.Values[at : at+b.Width]
}
