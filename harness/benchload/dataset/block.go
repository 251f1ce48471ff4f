package dataset

// MaxBlockTicks is the longest stretch of time one block can have.
const MaxBlockTicks = 4096

// Block holds the values of some ticks of some series: the unit in which
// values are made. Rows are ordered by tick, then series, then table. Its ticks
// do not cross a multiple of MaxBlockTicks, nor of the next power of two of their
// number.
type Block struct {
	Tick   int64 // the first tick
	Ticks  int
	Series int64 // the first series
	Count  int   // how many series
	Width  int   // values of one series at one tick
	Tables int   // rows of one series at one tick
	First  int64 // number of its first row, in the extent

	Values []int64 // of (tick, series, field)
}

// Rows is the number of rows in the block.
func (b *Block) Rows() int64 { return int64(b.Ticks) * int64(b.Count) * int64(b.Tables) }

// At gives the values of one series at one tick, both counted inside the block.
func (b *Block) At(tick, series int) []int64 {
	at := (tick*b.Count + series) * b.Width
	return b.Values[at : at+b.Width]
}
