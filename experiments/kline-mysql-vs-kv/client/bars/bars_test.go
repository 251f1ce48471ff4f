package bars

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"benchbook/benchload/dataset"
	"benchbook/benchload/format"
	"benchbook/benchload/stream"
	"benchbook/experiments/kline-mysql-vs-kv/client/kline"
)

func extent(stocks, days int64) dataset.Extent {
	start := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano()
	end := kline.NewCalendar(start).End(days)
	return dataset.Extent{
		Seed: 1, Scale: stocks, Start: start, End: end, WindowStart: start, WindowEnd: end, SeriesCount: stocks,
	}
}

// every gives all bars, as loads take them.
func every(days *Days) []Bar {
	maker := days.Maker()
	var all []Bar
	for {
		stock, day, count := days.Take(3)
		if count == 0 {
			return all
		}
		all = maker.Append(all, stock, day, count)
	}
}

func TestDaysAreTheDataset(t *testing.T) {
	e := extent(3, 40) // more ticks than a block can have
	found := map[[2]int64]Bar{}
	for _, bar := range every(NewDays(e)) {
		found[[2]int64{int64(bar.Stock), bar.Time}] = bar
	}
	generator := kline.New(e)
	rows := format.NewRows(generator)
	s := stream.New(generator, rows, stream.Options{})
	defer s.Close()
	cursor, count := rows.Cursor(), 0
	for {
		piece, more := s.Next()
		if !more {
			break
		}
		cursor.Reset(piece.Bytes)
		for cursor.Next() {
			bar := found[[2]int64{cursor.Series() + 1, cursor.Time() / second}]
			for field := range Fields {
				if value, _ := cursor.Integer(field); value != int64(bar.Values[field]) {
					t.Fatalf("stock %d at %s: field %d is %d, want %d", cursor.Series()+1, Clock(bar.Time), field, bar.Values[field], value)
				}
			}
			count++
		}
		s.Release(piece)
	}
	if count != len(found) || int64(count) != NewDays(e).Rows() {
		t.Errorf("%d bars, the dataset has %d", len(found), count)
	}
}

func TestAPackedBarIsReadBack(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		bar := Bar{Stock: uint16(random.Uint32()), Time: int64(random.Uint32())}
		for i, bits := range []int{24, 24, 24, 24, 32, 32, 16} {
			bar.Values[i] = random.Uint32() >> (32 - bits)
		}
		text := bar.Append(nil)
		var read Bar
		if read.Unpack(text); read != bar || len(text) != Size || PackedTime(text) != bar.Time {
			t.Fatalf("%v became %v in %d bytes", bar, read, len(text))
		}
	}
}

func TestRequestsSayHowManyBarsThereAre(t *testing.T) {
	e := extent(5, 12)
	all := every(NewDays(e))
	for _, asking := range []Asking{
		{Type: Short, Seed: 3, Count: 300},
		{Type: Short, Seed: 3, Count: 300, Margin: 60},
		{Type: Long, Seed: 3, Count: 30},
		{Type: Long, Seed: 3, Count: 30, OneStock: true},
	} {
		days := NewDays(e)
		requests, err := days.Requests(asking)
		if err != nil {
			t.Fatal(err)
		}
		stocks := map[uint16]bool{}
		maker := days.Maker()
		for i := range requests {
			r := &requests[i]
			stocks[r.Stock] = true
			var answer Answer
			for _, bar := range all {
				if bar.Stock == r.Stock && bar.Time >= r.From && bar.Time <= r.To {
					answer.Bars = append(answer.Bars, bar)
				}
			}
			if asking.Type == Long && r.Bars != LongDays*kline.DayBars || asking.Type == Short && asking.Margin == 0 && r.Bars != 1 || r.Bars > 1920 {
				t.Errorf("%+v asks for %d bars", asking, r.Bars)
			}
			if err := maker.Check(r, &answer); err != nil {
				t.Error(err)
			}
			answer.Bars[0].Values[3]++
			if err := maker.Check(r, &answer); err == nil {
				t.Error("a wrong bar is not found")
			}
		}
		if asking.OneStock != (len(stocks) == 1) {
			t.Errorf("%+v asks for %d stocks", asking, len(stocks))
		}
	}
	if _, err := NewDays(extent(1, 7)).Requests(Asking{Type: Long, Count: 1}); err == nil || !strings.Contains(err.Error(), "only 7") {
		t.Errorf("too few days: %v", err)
	}
}

func TestRequestsAreReadBack(t *testing.T) {
	requests, err := NewDays(extent(4, 9)).Requests(Asking{Type: Short, Seed: 9, Count: 20, Margin: 60})
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := WriteRequests(&text, requests); err != nil {
		t.Fatal(err)
	}
	again, digest, err := ReadRequests(bytes.NewReader(text.Bytes()))
	if err != nil || len(again) != 20 || again[7] != requests[7] || len(digest) != 71 {
		t.Errorf("%d requests, digest %s, error %v", len(again), digest, err)
	}
	for wrong, words := range map[string]string{
		"{":                   "request 1 is not valid JSON",
		`{"stick":1}`:         "stick",
		`{"type":"short"}`:    "is invalid",
		text.String() + "[1]": "request 21",
	} {
		if _, _, err := ReadRequests(strings.NewReader(wrong)); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%q gives %v, want an error about %q", wrong, err, words)
		}
	}
}

func BenchmarkUnpack(b *testing.B) {
	text := (&Bar{Stock: 1, Time: 1, Values: [Fields]uint32{1, 2, 3, 4, 5, 6, 7}}).Append(nil)
	var bar Bar
	b.ReportAllocs()
	for b.Loop() {
		bar.Unpack(text)
	}
}

func BenchmarkDays(b *testing.B) {
	days := NewDays(extent(1, 500))
	maker := days.Maker()
	var all []Bar
	b.ReportAllocs()
	n := int64(0)
	for b.Loop() {
		all = maker.Append(all[:0], 1, n%500, 1)
		n++
	}
	b.ReportMetric(float64(n*240)/b.Elapsed().Seconds()/1e6, "Mbars/s")
}
