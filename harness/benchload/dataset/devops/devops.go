// Package devops generates the telemetry of a fleet of hosts after the use case
// "devops" of influxdb-comparisons: nine tables and 101 fields for each host at
// each tick.
//
// As in the suite: tables, tags, fields, their order and types, the choices of tags,
// the mean and deviation of the steps, where the walks start.
//
// Different from the suite, and why:
//   - Every value is a pure function of seed, host, field and tick, so any window
//     and any range of hosts can be generated alone, and the bytes repeat. The suite's
//     values depend on all values before them.
//   - Walks that the suite clamps to their range are reflected at its ends. The
//     suite's metrics with a positive mean reach the top and stay there forever;
//     these fall again. Values are below the top, never equal to it.
//   - Steps are normal up to 5.28 deviations. Counters use N(mean, 1) where the
//     suite uses its absolute value, and never fall, which for a mean of five would
//     happen once in three million ticks.
//   - Floats have 14 decimals; the suite prints 16, which is more than a float64
//     stores. mem.free equals mem.used, as in the suite.
package devops

import (
	"math/bits"

	"benchbook/benchload/dataset"
	"benchbook/benchload/walk"
)

// Fields is the number of fields of all tables.
const Fields = 101

// Devops is the generator.
type Devops struct {
	extent dataset.Extent
	tables []dataset.Table
	chosen []chosen
	width  int
}

// chosen is a measurement that the extent asks for.
type chosen struct {
	*measurement
	id    uint64 // its place among all measurements, which its keys depend on
	place int    // of its first value in a block's values
}

// TableNames returns the tables in the order of rows.
func TableNames() []string {
	names := make([]string, len(measurements))
	for i := range measurements {
		names[i] = measurements[i].name
	}
	return names
}

// New creates the generator of an extent.
func New(extent dataset.Extent) *Devops {
	d := &Devops{extent: extent}
	for id := range measurements {
		m := &measurements[id]
		if extent.Table != "" && extent.Table != m.name {
			continue
		}
		table := dataset.Table{Name: m.name, Tags: append(append([]string{}, hostTags...), m.tags...)}
		for _, c := range m.columns {
			table.Fields = append(table.Fields, dataset.Field{Name: c.name, Kind: c.kind})
		}
		d.tables = append(d.tables, table)
		d.chosen = append(d.chosen, chosen{m, uint64(id), d.width})
		d.width += len(m.columns)
	}
	return d
}

// Name returns the name of the dataset.
func (d *Devops) Name() string { return "devops" }

// Extent returns the extent of the generator.
func (d *Devops) Extent() dataset.Extent { return d.extent }

// Tables returns the requested tables.
func (d *Devops) Tables() []dataset.Table { return d.tables }

// Width returns the number of their fields.
func (d *Devops) Width() int { return d.width }

// AppendTag appends one tag of one host.
func (d *Devops) AppendTag(text []byte, series int64, table, tag int) []byte {
	t := &d.tables[table]
	return newHost(d.extent.Seed, series).appendTag(text, series, t.Name, t.Tags[tag])
}

// Fill generates the values of the block's hosts from first to end-1.
func (d *Devops) Fill(block *dataset.Block, first, end int) {
	var room [dataset.MaxBlockTicks + 1]int64
	// The bridge is filled over the smallest aligned stretch around the block.
	length := alignedLength(block.Tick, block.Ticks)
	start := block.Tick &^ int64(length-1)
	skip := int(block.Tick - start)
	scratch := room[:length+1]
	stride := block.Count * block.Width
	for s := first; s < end; s++ {
		series := uint64(block.Series) + uint64(s)
		for i := range d.chosen {
			c := &d.chosen[i]
			for f := range c.columns {
				law := c.columns[f].law
				if law == nil {
					continue
				}
				key := walk.Key(d.extent.Seed, series, streamWalks, c.id<<8|uint64(f))
				offset := law.start
				if law.any {
					offset = walk.At(key^streamStarts, ^uint64(0)) >> 1
				}
				law.walk.Fill(key, uint64(start), offset, scratch, skip, block.Ticks,
					block.Values[s*block.Width+c.place+f:], stride)
			}
		}
		d.derive(block, s)
	}
}

// alignedLength is the smallest power of two whose aligned stretch holds the ticks.
func alignedLength(tick int64, ticks int) int {
	return 1 << bits.Len64(uint64(tick)^uint64(tick+int64(ticks)-1))
}
