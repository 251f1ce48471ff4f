// Package series generates rows whose only trait is how many series they are of:
// the shapes of the published tools inch and influx-stress. Rows are ordered by
// tick, then series, so that every series is written once before any is written
// twice: the number of series grows until all are known.
package series

import (
	"strconv"

	"benchbook/benchload/dataset"
)

// Series is the generator.
type Series struct {
	name   string
	extent dataset.Extent
	tables []dataset.Table
	tags   []tag
	counts bool // a value is the number of its tick; else it is one
}

// tag is the first part of the text of a tag, and how its number follows from
// that of the series.
type tag struct {
	prefix  string
	divide  int64
	values  int64
	ordinal bool // the number is that of the series
}

// NewInch makes rows as inch does: a table m0 with as many tags as there are
// cardinalities, every combination of which is a series, and fields that are 1.
// The cardinalities' product is the extent's scale.
func NewInch(extent dataset.Extent, cardinalities []int64, fields int) *Series {
	g := &Series{name: "inch", extent: extent}
	table := dataset.Table{Name: InchTable}
	divide := int64(1)
	for i, values := range cardinalities {
		table.Tags = append(table.Tags, "tag"+strconv.Itoa(i))
		g.tags = append(g.tags, tag{prefix: "value", divide: divide, values: values})
		divide *= values
	}
	for i := range fields {
		name := "v0"
		if i > 0 {
			name += strconv.Itoa(i)
		}
		table.Fields = append(table.Fields, dataset.Field{Name: name, Kind: dataset.Short})
	}
	g.tables = []dataset.Table{table}
	return g
}

// NewStress makes rows as influx-stress does: a table ctr with one tag and one
// counter.
func NewStress(extent dataset.Extent) *Series {
	return &Series{
		name: "stress", extent: extent, counts: true,
		tables: []dataset.Table{{Name: StressTable, Tags: []string{"some"}, Fields: []dataset.Field{{Name: "n"}}}},
		tags:   []tag{{prefix: "tag-", divide: 1, ordinal: true}},
	}
}

// The names of the tables, as the tools have them.
const (
	InchTable   = "m0"
	StressTable = "ctr"
)

// Name returns the name of the dataset.
func (g *Series) Name() string { return g.name }

// Extent returns the extent of the generator.
func (g *Series) Extent() dataset.Extent { return g.extent }

// Tables returns the only table.
func (g *Series) Tables() []dataset.Table { return g.tables }

// Width returns the number of its fields.
func (g *Series) Width() int { return len(g.tables[0].Fields) }

// AppendTag appends the text of a tag; the first tag changes from series to series.
func (g *Series) AppendTag(text []byte, series int64, _, place int) []byte {
	t := g.tags[place]
	number := series / t.divide
	if !t.ordinal {
		number %= t.values
	}
	return strconv.AppendInt(append(text, t.prefix...), number, 10)
}

// Fill generates the values of the block's series from first to end-1.
func (g *Series) Fill(block *dataset.Block, first, end int) {
	for t := range block.Ticks {
		value := int64(1)
		if g.counts {
			value = block.Tick + int64(t)
		}
		for s := first; s < end; s++ {
			for i := range block.At(t, s) {
				block.At(t, s)[i] = value
			}
		}
	}
}
