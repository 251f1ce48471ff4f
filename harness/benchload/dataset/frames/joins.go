package frames

import (
	"slices"
	"strconv"

	"benchbook/benchload/dataset"
	"benchbook/benchload/walk"
)

// JoinTableNames returns the tables of the join questions: x is joined with each of the others.
func JoinTableNames() []string { return []string{TableName, "small", "medium", "big"} }

// joinKeys is how many keys each table has, of id1, id2 and id3. Each is there as a number and,
// as id4, id5 and id6, as text.
var joinKeys = [...]int{3, 1, 2, 3}

// leastRows is how many rows small and medium have at least. In the publication, small has a
// millionth and medium a thousandth of the rows of x, which has ten million or more.
const leastRows = 10

// Joins is the generator of the tables of the join questions. Row n of each table is of series
// n, so a series has a row only in the tables that are long enough.
type Joins struct {
	extent dataset.Extent
	tables []joinTable
	public []dataset.Table
	keys   [3]keySet
	width  int
}

// joinTable is one of the tables.
type joinTable struct {
	rows   int64
	keys   int
	right  bool      // it is not x
	place  int       // of its first value among those of a series
	orders [3]uint64 // keys of the shuffles of its rows, one for each of its keys
	draws  [3]uint64 // keys of the draws of the rows that are left
	values uint64    // key of the draws of v1 or v2
}

// keySet is the values of one key: 1 … size+spare in random order. The first size of them are
// in x; the other tables have the last spare in place of as many of x.
type keySet struct{ key, size, spare uint64 }

// NewJoins creates the generator of an extent, whose scale is the number of rows of x and big.
func NewJoins(extent dataset.Extent) *Joins {
	g := &Joins{extent: extent}
	small, medium := max(extent.Scale/1_000_000, leastRows), max(extent.Scale/1000, leastRows)
	for i, size := range []int64{small, medium, extent.Scale} {
		g.keys[i] = keySet{walk.Key(extent.Seed, uint64(i)), uint64(size), uint64(size / 10)}
	}
	rows := []int64{extent.Scale, small, medium, extent.Scale}
	for i, name := range JoinTableNames() {
		if extent.Table != "" && extent.Table != name {
			continue
		}
		t := joinTable{
			rows: rows[i], keys: joinKeys[i], right: i > 0, place: g.width, values: walk.Key(extent.Seed, uint64(i), 0),
		}
		made := dataset.Table{Name: name}
		for key := range t.keys {
			t.orders[key] = walk.Key(extent.Seed, uint64(i), 1, uint64(key))
			t.draws[key] = walk.Key(extent.Seed, uint64(i), 2, uint64(key))
			made.Tags = append(made.Tags, "id"+strconv.Itoa(key+4))
			made.Fields = append(made.Fields, dataset.Field{Name: "id" + strconv.Itoa(key+1)})
		}
		value := dataset.Field{Name: "v1", Kind: dataset.Decimal}
		if t.right {
			value.Name = "v2"
		}
		made.Fields = append(made.Fields, value)
		g.tables, g.public = append(g.tables, t), append(g.public, made)
		g.width += len(made.Fields)
	}
	return g
}

// Name returns the name of the dataset.
func (g *Joins) Name() string { return "join-frames" }

// Extent returns the extent of the generator.
func (g *Joins) Extent() dataset.Extent { return g.extent }

// Tables returns the requested tables.
func (g *Joins) Tables() []dataset.Table { return g.public }

// Width returns the number of their fields.
func (g *Joins) Width() int { return g.width }

// key returns a key of a row. A table has each value of its side once, in shuffled rows, and
// draws from them for the rows that are left.
func (g *Joins) key(t *joinTable, row int64, key int) int64 {
	set := &g.keys[key]
	place := walk.Shuffle(t.orders[key], uint64(row), uint64(t.rows))
	if place >= set.size {
		place = walk.Below(t.draws[key], uint64(row), set.size)
	}
	if t.right && place >= set.size-set.spare {
		place += set.spare
	}
	return int64(1 + walk.Shuffle(set.key, place, set.size+set.spare))
}

// AppendTag appends a key of a row as text. Some formats ask for those of all series.
func (g *Joins) AppendTag(text []byte, series int64, table, tag int) []byte {
	t := &g.tables[table]
	if series >= t.rows {
		return text
	}
	return strconv.AppendInt(append(text, "id"...), g.key(t, series, tag), 10)
}

// Fill generates the values of the block's rows from first to end-1.
func (g *Joins) Fill(block *dataset.Block, first, end int) {
	for t := range block.Ticks {
		for s := first; s < end; s++ {
			row := block.Series + int64(s)
			for i := range g.tables {
				table := &g.tables[i]
				if row >= table.rows {
					continue
				}
				values := block.At(t, s)[table.place:]
				for key := range table.keys {
					values[key] = g.key(table, row, key)
				}
				values[table.keys] = int64(walk.Below(table.values, uint64(row), valuesV3)) * unitV3
			}
		}
	}
}

// CountRows returns how many rows some series have.
func (g *Joins) CountRows(first, end, series, count int64) int64 {
	rows := int64(0)
	for i := range g.tables {
		rows += g.tables[i].within(series, count)
	}
	return (end - first) * rows
}

// within counts the rows of some series.
func (t *joinTable) within(series, count int64) int64 {
	return max(0, min(series+count, t.rows)-series)
}

// Held returns 0: no row is late.
func (g *Joins) Held() int64 { return 0 }

// List lists the rows of a block.
func (g *Joins) List(block *dataset.Block) {
	block.Listed = block.Listed[:0]
	for t := range block.Ticks {
		for s := range block.Count {
			for i := range g.tables {
				if block.Series+int64(s) < g.tables[i].rows {
					block.Listed = append(block.Listed, dataset.Row{
						Tick: int32(t), Series: int32(s), At: int32((t*block.Count + s) * block.Width),
						Table: uint8(i), NoField: -1, NoTag: -1,
					})
				}
			}
		}
	}
}

// Census counts the extent's rows of each table and values of each field.
func (g *Joins) Census() []dataset.TableCount {
	counts := make([]dataset.TableCount, len(g.tables))
	first, end := g.extent.Ticks()
	for i := range g.tables {
		rows := (end - first) * g.tables[i].within(g.extent.SeriesFirst, g.extent.SeriesCount)
		counts[i] = dataset.TableCount{Rows: rows, Values: slices.Repeat([]int64{rows}, len(g.public[i].Fields))}
	}
	return counts
}

var _ dataset.Irregular = (*Joins)(nil)
