package bars

import (
	"sync/atomic"

	"benchbook/benchload/dataset"
	"benchbook/benchload/dataset/kline"
)

const second = 1_000_000_000

// Days makes the bars of a dataset, one day of one stock at a time, in the order
// of the published load: all days of a stock, then the next stock. Any number of
// goroutines may take from it.
type Days struct {
	generator *kline.Kline
	extent    dataset.Extent
	next      atomic.Int64
	count     int64 // days of each stock
}

// NewDays takes days from the beginning of an extent of the dataset kline.
func NewDays(extent dataset.Extent) *Days {
	generator := kline.New(extent)
	first, end := generator.Extent().Ticks()
	return &Days{generator: generator, extent: generator.Extent(), count: (end - first) / kline.DayBars}
}

// Stocks is the number of stocks.
func (d *Days) Stocks() int64 { return d.extent.SeriesCount }

// First is the number of the first stock.
func (d *Days) First() int64 { return d.extent.SeriesFirst + 1 }

// Count is the number of days of each stock.
func (d *Days) Count() int64 { return d.count }

// Rows is the number of bars.
func (d *Days) Rows() int64 { return d.Stocks() * d.count * kline.DayBars }

// Take gives the place of up to so many next days, all of one stock; a count of
// zero is the end.
func (d *Days) Take(most int64) (stock, day, count int64) {
	total := d.Stocks() * d.count
	for {
		at := d.next.Load()
		if at >= total {
			return 0, 0, 0
		}
		stock, day = at/d.count, at%d.count
		count = min(most, d.count-day)
		if d.next.CompareAndSwap(at, at+count) {
			return d.First() + stock, day, count
		}
	}
}

// Maker makes the bars of days; it belongs to one goroutine.
type Maker struct {
	days  *Days
	block dataset.Block
}

// Maker makes a maker.
func (d *Days) Maker() *Maker { return &Maker{days: d} }

// Append appends the bars of some days of a stock.
func (m *Maker) Append(all []Bar, stock, day, count int64) []Bar {
	for ; count > 0; day, count = day+1, count-1 {
		all = m.appendDay(all, stock, day)
	}
	return all
}

func (m *Maker) appendDay(all []Bar, stock, day int64) []Bar {
	generator := m.days.generator
	first, _ := m.days.extent.Ticks()
	tick := first + day*kline.DayBars
	b := &m.block
	if b.Values == nil {
		b.Values = make([]int64, kline.DayBars*generator.Width())
	}
	b.Series, b.Count, b.Width, b.Tables = stock-1, 1, generator.Width(), 1
	// A block does not cross a multiple of the longest one.
	for at := int64(0); at < kline.DayBars; {
		room := dataset.MaxBlockTicks - (tick+at)%dataset.MaxBlockTicks
		b.Tick, b.Ticks = tick+at, int(min(room, kline.DayBars-at))
		generator.Fill(b, 0, 1)
		for t := range b.Ticks {
			bar := Bar{Stock: uint16(stock), Time: m.days.extent.Time(b.Tick+int64(t)) / second}
			for i, value := range b.At(t, 0)[:Fields] {
				bar.Values[i] = uint32(value)
			}
			all = append(all, bar)
		}
		at += int64(b.Ticks)
	}
	return all
}
