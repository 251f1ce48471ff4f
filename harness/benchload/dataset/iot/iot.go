// Package iot generates the telemetry of a fleet of trucks after the use case
// "iot" of tsdb-comparisons, which the published comparison of CnosDB and
// InfluxDB wrote: two tables a truck and tick, with rows that are missing, rows
// that are late, and rows without one of their tags or fields.
//
// What is as in the use case: tables, tags, fields, their order and types, the
// digits that are printed, the choices of tags, the deviation of the steps, the
// borders of the walks and where they start, the rates of what is missing, and
// how far a row is put behind, counted in rows: so that with a hundred trucks
// few rows cross the border of a tick, and with ten many do.
//
// What differs, and why:
//   - Every value, and the fate of every row, is a pure function of seed, truck,
//     table and tick, so any window and any range of trucks can be made alone.
//   - A row is missing by itself with the rate at which they are missing in the
//     published dataset; the use case also drops batches of ten neighbours.
//   - Rows of one tick are ordered by truck, then table, the late ones of a truck
//     where they are due. The use case shuffles neighbours within a tick too, which
//     no reader can tell from the times. What is still held back at the end is
//     written with the last tick.
//   - No two rows without a name are of one series and time, which in the use case
//     happens about once in two million rows and makes a server keep one of them.
//   - Walks are folded at their borders instead of clamped; the fold lies so far
//     outside that values stay as often on the border as clamped ones do.
//   - Capacities and the nominal consumption, which walk too, begin at their
//     least value; in the use case the row of the first tick has zeros.
//   - Steps are normal with the deviation of the use case's uniform ones.
package iot

import (
	"sync"

	"benchbook/benchload/dataset"
	"benchbook/benchload/walk"
)

// IoT is the generator.
type IoT struct {
	extent  dataset.Extent
	tables  []dataset.Table
	chosen  []chosen
	width   int
	ticks   int64  // of the dataset
	perTick int64  // rows of a tick of the dataset, if none were missing
	names   uint64 // key of who is without a name
	drafts  sync.Pool
	count   func() int64
}

// chosen is a table that the extent asks for.
type chosen struct {
	*table
	id    int64 // its place among all tables
	place int   // of its first value among those of a truck and tick
}

// TableNames returns the tables in the order of rows.
func TableNames() []string {
	names := make([]string, len(tables))
	for i := range tables {
		names[i] = tables[i].name
	}
	return names
}

// New creates the generator of an extent.
func New(extent dataset.Extent) *IoT {
	g := &IoT{extent: extent, perTick: extent.Scale * int64(len(tables)), names: walk.Key(extent.Seed, streamNames)}
	whole := extent
	whole.WindowEnd = extent.End
	_, g.ticks = whole.Ticks()
	for id := range tables {
		t := &tables[id]
		if extent.Table != "" && extent.Table != t.name {
			continue
		}
		made := dataset.Table{Name: t.name, Tags: tags}
		for _, c := range t.columns {
			made.Fields = append(made.Fields, c.field)
		}
		g.tables = append(g.tables, made)
		g.chosen = append(g.chosen, chosen{t, int64(id), g.width})
		g.width += len(t.columns)
	}
	g.drafts.New = func() any { return &draft{} }
	g.count = sync.OnceValue(func() int64 {
		first, end := extent.Ticks()
		return g.countRows(first, end, extent.SeriesFirst, extent.SeriesCount)
	})
	return g
}

// Name returns the name of the dataset.
func (g *IoT) Name() string { return "iot" }

// Extent returns the extent of the generator.
func (g *IoT) Extent() dataset.Extent { return g.extent }

// Tables returns the requested tables.
func (g *IoT) Tables() []dataset.Table { return g.tables }

// Width returns the number of their fields.
func (g *IoT) Width() int { return g.width }

// AppendTag appends one tag of one truck.
func (g *IoT) AppendTag(text []byte, series int64, _, tag int) []byte {
	return appendTag(text, g.extent.Seed, series, tag)
}
