package bars

import (
	"math"
	"sync/atomic"

	"benchbook/benchload/dataset"
	"benchbook/experiments/kline-mysql-vs-kv/client/kline"
)

const second = 1_000_000_000

// Days deals out the days of a dataset in the order of the published load: all days of
// a stock, then the next stock. Any number of goroutines may take from it.
type Days struct {
	generator *kline.Kline
	extent    dataset.Extent
	next      atomic.Int64
	count     int64 // days of each stock
	endless   bool  // later days follow those of the dataset
}

// NewDays deals out the days of an extent of the dataset kline.
func NewDays(extent dataset.Extent) *Days {
	generator := kline.New(extent)
	first, end := generator.Extent().Ticks()
	return &Days{generator: generator, extent: generator.Extent(), count: (end - first) / kline.DayBars}
}

// Stocks returns the number of stocks.
func (d *Days) Stocks() int64 { return d.extent.SeriesCount }

// First returns the number of the first stock.
func (d *Days) First() int64 { return d.extent.SeriesFirst + 1 }

// Count returns the number of days of each stock.
func (d *Days) Count() int64 { return d.count }

// Rows returns the number of bars.
func (d *Days) Rows() int64 { return d.Stocks() * d.count * kline.DayBars }

// Take returns up to most next days, all of one stock; a count of zero is the end.
// Endless days continue with the first stock on the day after the dataset's last.
func (d *Days) Take(most int64) (stock, day, count int64) {
	total := d.Stocks() * d.count
	if total == 0 {
		return 0, 0, 0
	}
	for {
		at := d.next.Load()
		pass := at / total
		if at >= total && (!d.endless || (pass+1)*d.count > d.last()) {
			return 0, 0, 0
		}
		stock, day = at%total/d.count, at%d.count
		count = min(most, d.count-day)
		if d.next.CompareAndSwap(at, at+count) {
			return d.First() + stock, pass*d.count + day, count
		}
	}
}

// last is the number of days whose times fit a packed bar.
func (d *Days) last() int64 {
	first, _ := d.extent.Ticks()
	return (d.extent.Clock.TicksBefore(math.MaxUint32*second) - first) / kline.DayBars
}

// Maker generates the bars of days. It belongs to one goroutine.
type Maker struct {
	days  *Days
	block dataset.Block
}

// Maker creates a maker.
func (d *Days) Maker() *Maker { return &Maker{days: d} }

// Append appends the bars of a number of days of a stock.
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
