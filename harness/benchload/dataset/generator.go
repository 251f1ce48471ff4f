package dataset

// Generator makes the values of a dataset. Everything it returns is a pure
// function of its extent's seed and of the arguments, so it may be used by any
// number of goroutines, in any order.
type Generator interface {
	// Name is the name of the dataset.
	Name() string
	// Extent is what it was made for.
	Extent() Extent
	// Tables are the tables of every series, in the order of rows.
	Tables() []Table
	// Width is the number of fields of all tables together.
	Width() int
	// AppendTag appends the text of one tag of one series.
	AppendTag(text []byte, series int64, table, tag int) []byte
	// Fill makes the values of the block's series from first to end-1 of the block.
	Fill(block *Block, first, end int)
}

// Rows is how many rows the extent of a generator has.
func Rows(g Generator) int64 {
	first, end := g.Extent().Ticks()
	return (end - first) * g.Extent().SeriesCount * int64(len(g.Tables()))
}

// Values is how many field values the extent of a generator has.
func Values(g Generator) int64 {
	first, end := g.Extent().Ticks()
	return (end - first) * g.Extent().SeriesCount * int64(g.Width())
}
