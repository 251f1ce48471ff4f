// Package frames generates the tables of the db-benchmark: one for its group-by questions, rows
// whose keys and values are drawn independently, and four for its join questions. A row is a
// series with one tick, so that its text keys are tags.
package frames

import (
	"fmt"

	"benchbook/benchload/dataset"
	"benchbook/benchload/walk"
)

// TableName is the table of the group-by questions, and the left side of the join questions.
const TableName = "x"

var tables = []dataset.Table{{
	Name: TableName,
	Tags: []string{"id1", "id2", "id3"},
	Fields: []dataset.Field{
		{Name: "id4"}, {Name: "id5"}, {Name: "id6"}, {Name: "v1"}, {Name: "v2"}, {Name: "v3", Kind: dataset.Decimal},
	},
}}

// The draws of a row, in the order of the publication's columns.
const (
	drawID1 = iota
	drawID2
	drawID3
	drawID4
	drawID5
	drawID6
	drawV1
	drawV2
	drawV3
)

// Sizes of the domains of the values.
const (
	valuesV1 = 5
	valuesV2 = 15
	// v3 lies in 0 … 100 and has six digits after the point.
	valuesV3 = 100_000_001
	unitV3   = dataset.DecimalUnit / 1_000_000
)

// Frames is the generator.
type Frames struct {
	extent dataset.Extent
	few    uint64 // values of id1, id2, id4 and id5
	many   uint64 // values of id3 and id6
}

// New creates the generator of an extent; the first of its tags' numbers is that of groups.
func New(extent dataset.Extent) *Frames {
	groups := extent.Tags[0]
	return &Frames{extent: extent, few: uint64(groups), many: uint64(extent.Scale / groups)}
}

// Name returns the name of the dataset.
func (g *Frames) Name() string { return "frames" }

// Extent returns the extent of the generator.
func (g *Frames) Extent() dataset.Extent { return g.extent }

// Tables returns the only table.
func (g *Frames) Tables() []dataset.Table { return tables }

// Width returns the number of its fields.
func (g *Frames) Width() int { return len(tables[0].Fields) }

// AppendTag appends a key of a row: id1 and id2 have three digits or more, id3 has ten.
func (g *Frames) AppendTag(text []byte, series int64, _, place int) []byte {
	key := walk.Key(g.extent.Seed, uint64(series))
	if place == drawID3 {
		return fmt.Appendf(text, "id%010d", 1+walk.Below(key, drawID3, g.many))
	}
	return fmt.Appendf(text, "id%03d", 1+walk.Below(key, uint64(place), g.few))
}

// Fill generates the values of the block's rows from first to end-1.
func (g *Frames) Fill(block *dataset.Block, first, end int) {
	for t := range block.Ticks {
		for s := first; s < end; s++ {
			key := walk.Key(g.extent.Seed, uint64(block.Series+int64(s)))
			values := block.At(t, s)
			_ = values[5]
			values[0] = int64(1 + walk.Below(key, drawID4, g.few))
			values[1] = int64(1 + walk.Below(key, drawID5, g.few))
			values[2] = int64(1 + walk.Below(key, drawID6, g.many))
			values[3] = int64(1 + walk.Below(key, drawV1, valuesV1))
			values[4] = int64(1 + walk.Below(key, drawV2, valuesV2))
			values[5] = int64(walk.Below(key, drawV3, valuesV3)) * unitV3
		}
	}
}
