package dataset

// Generator makes the values of a dataset. Everything it returns is a pure
// function of its extent's seed and of the arguments, so it may be used by any
// number of goroutines, in any order.
type Generator interface {
	// Name returns the name of the dataset.
	Name() string
	// Extent returns the extent of the generator.
	Extent() Extent
	// Tables returns the tables of every series, in the order of rows.
	Tables() []Table
	// Width returns the number of fields of all tables together.
	Width() int
	// AppendTag appends the text of one tag of one series.
	AppendTag(text []byte, series int64, table, tag int) []byte
	// Fill generates the values of the block's series from first to end-1 of the block.
	Fill(block *Block, first, end int)
}

// Irregular is a generator whose ticks differ in their number of rows, because
// rows are missing or written at a later tick than that of their time.
type Irregular interface {
	Generator
	// CountRows returns how many rows of some series are written from tick first to end-1.
	CountRows(first, end, series, count int64) int64
	// Held is behind how many rows of later ticks a row may be written.
	Held() int64
	// List lists the rows of a block whose values are made.
	List(block *Block)
	// Census counts the extent's rows of each table and values of each field.
	Census() []TableCount
}

// TableCount is how much of a table there is.
type TableCount struct {
	Rows   int64
	Values []int64 // of each field
}

// Rows returns how many rows the extent of a generator has.
func Rows(g Generator) int64 {
	extent := g.Extent()
	first, end := extent.Ticks()
	return RowsOf(g, first, end, extent.SeriesFirst, extent.SeriesCount)
}

// RowsUntilWhole is after how many rows of a generation that continues past the end of the
// extent all of its rows are among them.
func RowsUntilWhole(g Generator) int64 {
	rows := Rows(g)
	if irregular, ok := g.(Irregular); ok {
		rows += irregular.Held()
	}
	return rows
}

// RowsOf is how many rows of some series are written from tick first to end-1.
func RowsOf(g Generator, first, end, series, count int64) int64 {
	if irregular, ok := g.(Irregular); ok {
		return irregular.CountRows(first, end, series, count)
	}
	return (end - first) * count * int64(len(g.Tables()))
}

// Census counts the rows of each table and the values of each field.
func Census(g Generator) []TableCount {
	if irregular, ok := g.(Irregular); ok {
		return irregular.Census()
	}
	rows := Rows(g) / int64(len(g.Tables()))
	counts := make([]TableCount, len(g.Tables()))
	for i, table := range g.Tables() {
		counts[i] = TableCount{rows, make([]int64, len(table.Fields))}
		for field := range table.Fields {
			counts[i].Values[field] = rows
		}
	}
	return counts
}

// Values returns how many field values the extent of a generator has.
func Values(g Generator) int64 {
	sum := int64(0)
	for _, table := range Census(g) {
		for _, values := range table.Values {
			sum += values
		}
	}
	return sum
}
