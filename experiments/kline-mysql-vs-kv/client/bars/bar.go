// Package bars reads ranges of one-minute bars from databases and from stores
// of packed days, and loads them, like the published comparison of MySQL and a
// key-value store. Every client returns the same bars, whatever the system.
package bars

import (
	"encoding/binary"
	"time"
)

// Fields is the number of values of a bar: open, close, high, low, volume,
// amount, turn, in the order of the published table.
const Fields = 7

// Columns are the columns of the published table.
var Columns = [...]string{"stock_name", "date_time", "open", "close", "high", "low", "volume", "amount", "turn"}

// Bar is one minute of one stock.
type Bar struct {
	Stock  uint16
	Time   int64 // seconds since 1970
	Values [Fields]uint32
}

// Size is the width of a packed bar in bytes.
const Size = 28

// Place of each value in a packed bar: prices have 24 bits, as in the published table.
const (
	atTime   = 2
	atPrices = 6
	prices   = 4
	price    = 3
	atVolume = atPrices + prices*price
	atAmount = atVolume + 4
	atTurn   = atAmount + 4
)

// Append appends a packed bar: stock, time, four prices, volume, amount, turn,
// little-endian, in fixed width.
func (b *Bar) Append(text []byte) []byte {
	text = binary.LittleEndian.AppendUint16(text, b.Stock)
	text = binary.LittleEndian.AppendUint32(text, uint32(b.Time))
	for _, value := range b.Values[:prices] {
		text = append(text, byte(value), byte(value>>8), byte(value>>16))
	}
	text = binary.LittleEndian.AppendUint32(text, b.Values[4])
	text = binary.LittleEndian.AppendUint32(text, b.Values[5])
	return binary.LittleEndian.AppendUint16(text, uint16(b.Values[6]))
}

// Unpack reads a packed bar from the first Size bytes.
func (b *Bar) Unpack(text []byte) {
	_ = text[Size-1]
	b.Stock = binary.LittleEndian.Uint16(text)
	b.Time = int64(binary.LittleEndian.Uint32(text[atTime:]))
	for i := range prices {
		p := text[atPrices+price*i:]
		b.Values[i] = uint32(p[0]) | uint32(p[1])<<8 | uint32(p[2])<<16
	}
	b.Values[4] = binary.LittleEndian.Uint32(text[atVolume:])
	b.Values[5] = binary.LittleEndian.Uint32(text[atAmount:])
	b.Values[6] = uint32(binary.LittleEndian.Uint16(text[atTurn:]))
}

// PackedTime is the time of a packed bar, without unpacking the rest.
func PackedTime(text []byte) int64 { return int64(binary.LittleEndian.Uint32(text[atTime:])) }

// Clock is the time of a bar as databases write it.
func Clock(seconds int64) string { return time.Unix(seconds, 0).UTC().Format(time.DateTime) }
