// Package kline generates candlesticks: one-minute bars of the prices of stocks,
// in the value ranges of the table of the published comparison of MySQL and a
// key-value store. Every bar is a pure function of seed, stock and number.
//
// Prices are in hundredths; a bar closes where the walk of its stock is, and
// opens near where the bar before closed. Volume is in shares, in lots of 100;
// amount is what they cost, in whole units; turn is the part of the stock's free
// shares that changed hands, in 10^-8.
package kline

import (
	"math/bits"
	"strconv"
	"sync"

	"benchbook/benchload/dataset"
	"benchbook/benchload/walk"
)

// TableName is the name of the only table, as published.
const TableName = "finance"

// Streams of random numbers; they are part of what the bytes depend on: never renumber.
const (
	streamStock = iota
	streamWalk
	streamStart
	streamBars
)

// Draws of the fixed facts of a stock.
const (
	drawMantissa = iota
	drawExponent
	drawVolume
)

var tables = []dataset.Table{{
	Name: TableName,
	Tags: []string{"stock_name"},
	Fields: []dataset.Field{
		{Name: "open"}, {Name: "close"}, {Name: "high"}, {Name: "low"},
		{Name: "volume"}, {Name: "amount"}, {Name: "turn"},
	},
}}

// places is how finely the walk divides its range.
const places = 20

// prices walk in a range of one and a half times the base, with steps of 0.1 % of it.
var prices = walk.NewFolded(0, 0.001, 1, 1<<places)

// Kline is the generator.
type Kline struct {
	extent dataset.Extent
	rooms  sync.Pool
}

// room is memory for the walk of one stock.
type room struct {
	bridge [dataset.MaxBlockTicks + 1]int64
	walk   [dataset.MaxBlockTicks + 1]int64
}

// New creates the generator of an extent; its clock is set by the calendar of
// the start.
func New(extent dataset.Extent) *Kline {
	extent.Clock = NewCalendar(extent.Start)
	extent.Interval = minute
	return &Kline{extent: extent, rooms: sync.Pool{New: func() any { return &room{} }}}
}

// Name returns the name of the dataset.
func (g *Kline) Name() string { return "kline" }

// Extent returns the extent of the generator.
func (g *Kline) Extent() dataset.Extent { return g.extent }

// Tables returns the only table.
func (g *Kline) Tables() []dataset.Table { return tables }

// Width returns the number of its fields.
func (g *Kline) Width() int { return len(tables[0].Fields) }

// AppendTag appends the number of a stock; they begin with one.
func (g *Kline) AppendTag(text []byte, series int64, _, _ int) []byte {
	return strconv.AppendInt(text, series+1, 10)
}

// Fill generates the bars of the block's stocks from first to end-1.
func (g *Kline) Fill(block *dataset.Block, first, end int) {
	r := g.rooms.Get().(*room)
	defer g.rooms.Put(r)
	// The walk is filled over the smallest aligned stretch around the block. A bar
	// opens where the walk is at its tick, and closes where it is at the next.
	length := int64(1) << bits.Len64(uint64(block.Tick)^uint64(block.Tick+int64(block.Ticks)-1))
	skip := int(block.Tick & (length - 1))
	for s := first; s < end; s++ {
		stock := newStock(g.extent.Seed, block.Series+int64(s))
		prices.Fill(stock.walk, uint64(block.Tick)-uint64(skip), stock.start,
			r.bridge[:length+1], skip, block.Ticks+1, r.walk[:], 1)
		for t := range block.Ticks {
			stock.bar(block.At(t, s), block.Tick+int64(t), stock.price(r.walk[t]), stock.price(r.walk[t+1]))
		}
	}
}

// stock has the fixed facts of one stock.
type stock struct {
	walk, start, bars uint64
	base              uint64 // price
	volume            uint64 // of a usual bar
}

func newStock(seed uint64, series int64) stock {
	key := walk.Key(seed, uint64(series), streamStock)
	return stock{
		walk:   walk.Key(seed, uint64(series), streamWalk),
		start:  walk.At(walk.Key(seed, uint64(series), streamStart), 0) >> 1,
		bars:   walk.Key(seed, uint64(series), streamBars),
		base:   (256 + walk.Below(key, drawMantissa, 256)) << walk.Below(key, drawExponent, 7),
		volume: 1000 << walk.Below(key, drawVolume, 8),
	}
}

// price is a place of the walk in 0 … 2^places-1 as a price: from half the base
// to twice the base.
func (s *stock) price(place int64) int64 {
	return int64(s.base/2 + uint64(place)*s.base*3>>(places+1))
}

// bar makes one bar, given where the walk was before and after it.
func (s *stock) bar(values []int64, tick, before, after int64) {
	h := walk.At(s.bars, uint64(tick))
	gap := (int64(h&0xFF) - 128) * before >> 18 // up to 0.05 % either way
	if tick%DayBars == 0 {
		gap <<= 4 // over night
	}
	first := max(before+gap, 1)
	high := max(first, after) + int64(h>>8&0xFF)*after>>17
	low := max(min(first, after)-int64(h>>16&0xFF)*after>>17, 1)
	// The product of two even draws: many small volumes, few large ones.
	volume := s.volume*4*(h>>24&0xFFFF)>>16*(h>>40&0xFFFF)>>16/100*100 + 100
	amount := volume * uint64(first+after+high+low) / 400
	_ = values[6]
	values[0], values[1], values[2], values[3] = first, after, high, low
	values[4], values[5] = int64(volume), int64(amount)
	// One percent of the free shares is traded on a usual day.
	values[6] = int64(volume * 1e8 / (s.volume * 100 * DayBars))
}
