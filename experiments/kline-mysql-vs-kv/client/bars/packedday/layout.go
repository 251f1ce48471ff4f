// Package packedday stores bars like the published key-value store: all 240 bars of a
// stock and a day, in fixed width, are one field of a hash in Redis or Kvrocks. Digits
// two to five of the six-digit stock number are the key, so ten stocks share a hash;
// stock and date are the field.
package packedday

import (
	"strconv"
	"time"

	"benchbook/experiments/kline-mysql-vs-kv/client/bars"
)

const (
	daySeconds  = 24 * 60 * 60
	stockDigits = 6
)

// Key is the hash that a stock is in.
func Key(stock uint16) string { return digits(stock)[1:5] }

// Field is the field of a stock and the day of a time.
func Field(stock uint16, seconds int64) string {
	return string(appendField(make([]byte, 0, 15), stock, seconds))
}

// appendField appends 000001_20200509.
func appendField(text []byte, stock uint16, seconds int64) []byte {
	text = append(text, digits(stock)...)
	return time.Unix(seconds, 0).UTC().AppendFormat(append(text, '_'), "20060102")
}

// digits writes a stock with six digits.
func digits(stock uint16) string {
	text := strconv.Itoa(int(stock))
	return "000000"[:stockDigits-len(text)] + text
}

// weekend reports whether the day of a time is without trading.
func weekend(seconds int64) bool {
	const thursday = 4 // 1970-01-01
	weekday := (seconds/daySeconds + thursday) % 7
	return weekday == 0 || weekday == 6
}

// fields appends the fields of a request: each weekday of its range.
func fields(into []string, request *bars.Request) []string {
	for day := request.From - request.From%daySeconds; day <= request.To; day += daySeconds {
		if !weekend(day) {
			into = append(into, Field(request.Stock, day))
		}
	}
	return into
}

// Take appends the bars of a packed day that lie in the range of a request.
func Take(into []bars.Bar, packed []byte, request *bars.Request) []bars.Bar {
	for ; len(packed) >= bars.Size; packed = packed[bars.Size:] {
		if at := bars.PackedTime(packed); at < request.From || at > request.To {
			continue
		}
		into = append(into, bars.Bar{})
		into[len(into)-1].Unpack(packed)
	}
	return into
}

// Cut appends the packed bars of a packed day that lie in the range of a request.
func Cut(into, packed []byte, request *bars.Request) []byte {
	first, end := 0, len(packed)-len(packed)%bars.Size
	for first < end && bars.PackedTime(packed[first:]) < request.From {
		first += bars.Size
	}
	for end > first && bars.PackedTime(packed[end-bars.Size:]) > request.To {
		end -= bars.Size
	}
	return append(into, packed[first:end]...)
}
