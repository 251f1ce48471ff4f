package bars

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"

	"benchbook/benchload/walk"
	"benchbook/experiments/kline-mysql-vs-kv/client/kline"
)

// Request asks for the bars of one stock in a range of time, both ends included.
type Request struct {
	ID    int64  `json:"id"`
	Type  string `json:"type"`
	Stock uint16 `json:"stock"`
	From  int64  `json:"from"` // seconds since 1970
	To    int64  `json:"to"`
	Bars  int64  `json:"bars"` // that the dataset has there
	// SHA256 is of those bars, packed, in the order of time; only of the first requests.
	SHA256 string `json:"sha256,omitempty"`
}

// Asking describes how requests are drawn.
type Asking struct {
	Type     string // short or long
	Seed     uint64
	Count    int64
	OneStock bool  // always the first stock, as the published reader of MySQL
	Digested int64 // of how many requests the bars are digested
	Margin   int64 // seconds before and after the bar of a short read, as published for SQL
}

// The kinds of reads.
const (
	Short = "short" // one bar
	Long  = "long"  // the bars of LongDays days
)

// LongDays is the number of trading days of a long read.
const LongDays = 8

// Draws of a request; they are part of what the requests depend on: never renumber.
const (
	drawStock = iota
	drawDay
	drawBar
	draws
)

// Requests draws requests: a pure function of the asking and the extent.
func (d *Days) Requests(asking Asking) ([]Request, error) {
	if asking.Type == Long && d.count < LongDays {
		return nil, fmt.Errorf("a long read needs %d days, but the dataset has only %d", LongDays, d.count)
	}
	key := walk.Key(asking.Seed, uint64(len(asking.Type)))
	below := func(n, draw, limit int64) int64 {
		return int64(walk.Below(key, uint64(n*draws+draw), uint64(limit)))
	}
	maker := d.Maker()
	all := make([]Request, asking.Count)
	for n := range all {
		r := Request{ID: int64(n), Type: asking.Type, Stock: uint16(d.First())}
		if !asking.OneStock {
			r.Stock += uint16(below(r.ID, drawStock, d.Stocks()))
		}
		if asking.Type == Long {
			day := below(r.ID, drawDay, d.count-LongDays+1)
			r.From = d.midnight(day)
			r.To = d.midnight(day+LongDays-1) + 24*60*60 - 1
		} else {
			at := d.time(below(r.ID, drawDay, d.count)*kline.DayBars + below(r.ID, drawBar, kline.DayBars))
			r.From, r.To = at-asking.Margin, at+asking.Margin
		}
		r.Bars = d.between(r.From, r.To)
		if r.ID < asking.Digested {
			answer := Answer{Bars: maker.Between(nil, &r)}
			r.SHA256 = answer.Digest()
		}
		all[n] = r
	}
	return all, nil
}

// time is the time of a bar, counted from the first of the extent.
func (d *Days) time(bar int64) int64 {
	first, _ := d.extent.Ticks()
	return d.extent.Time(first+bar) / second
}

// midnight is when a day begins.
func (d *Days) midnight(day int64) int64 {
	at := d.time(day * kline.DayBars)
	return at - at%(24*60*60)
}

// between counts the bars of a stock in a range of time, both ends included.
func (d *Days) between(from, to int64) int64 {
	first, end := d.extent.Ticks()
	inside := func(seconds int64) int64 {
		return min(max(d.extent.Clock.TicksBefore(seconds*second), first), end)
	}
	return inside(to+1) - inside(from)
}

// WriteRequests writes a request a line.
func WriteRequests(out io.Writer, requests []Request) error {
	buffered := bufio.NewWriter(out)
	encoder := json.NewEncoder(buffered)
	for i := range requests {
		if err := encoder.Encode(&requests[i]); err != nil {
			return err
		}
	}
	return buffered.Flush()
}

// ReadRequests reads what WriteRequests wrote, and its SHA-256.
func ReadRequests(in io.Reader) ([]Request, string, error) {
	sum := sha256.New()
	decoder := json.NewDecoder(io.TeeReader(in, sum))
	decoder.DisallowUnknownFields()
	var all []Request
	for {
		var r Request
		err := decoder.Decode(&r)
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, "", fmt.Errorf("request %d is not valid JSON: %w", len(all)+1, err)
		}
		if r.From > r.To || r.Stock == 0 || r.Bars < 1 || r.Type != Short && r.Type != Long {
			return nil, "", fmt.Errorf("request %d is invalid: it needs a type short or long, a stock from 1 on, from <= to and bars >= 1", len(all)+1)
		}
		all = append(all, r)
	}
	return all, "sha256:" + hex.EncodeToString(sum.Sum(nil)), nil
}
