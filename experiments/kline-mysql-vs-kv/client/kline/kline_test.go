package kline

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"benchbook/benchload/dataset"
	"benchbook/benchload/format"
	"benchbook/benchload/stream"
	"benchbook/benchload/stream/streamtest"
)

var monday = time.Date(2020, 1, 6, 0, 0, 0, 0, time.UTC)

// extent is a whole dataset of so many stocks and days.
func extent(stocks, days int64) dataset.Extent {
	start := monday.UnixNano()
	end := NewCalendar(start).End(days)
	return dataset.Extent{
		Seed: 1, Scale: stocks, Start: start, End: end, WindowStart: start, WindowEnd: end, SeriesCount: stocks,
	}
}

// read gives all bytes of an extent.
func read(e dataset.Extent, options stream.Options) []byte {
	generator := New(e)
	return streamtest.Read(generator, format.NewCSV(generator), options)
}

// The bytes of a dataset never change.
func TestGoldenDigests(t *testing.T) {
	for _, c := range []struct {
		stocks, days int64
		digest       string
	}{
		{1, 30, "7105ba12bba8c50523b676c215f87bba7f3bc3d0afb65bd852bf6114d191885f"},
		{20, 6, "3b550080616dd424f23483acbe59b5bf52ba9c279efc386be05d965d774bfdb1"},
	} {
		sum := sha256.Sum256(read(extent(c.stocks, c.days), stream.Options{}))
		if got := hex.EncodeToString(sum[:]); got != c.digest {
			t.Errorf("%d stocks, %d days: %s, want %s", c.stocks, c.days, got, c.digest)
		}
	}
}

func TestTheCalendar(t *testing.T) {
	for _, c := range []struct{ start, first, second, last string }{
		{"2020-01-06T00:00:00Z", "2020-01-06T09:31:00Z", "2020-01-07T09:31:00Z", "2020-01-10T15:00:00Z"},
		{"2020-01-09T17:00:00Z", "2020-01-09T09:31:00Z", "2020-01-10T09:31:00Z", "2020-01-15T15:00:00Z"},
		{"2020-01-11T00:00:00Z", "2020-01-13T09:31:00Z", "2020-01-14T09:31:00Z", "2020-01-17T15:00:00Z"},
		{"1969-12-28T00:00:00Z", "1969-12-29T09:31:00Z", "1969-12-30T09:31:00Z", "1970-01-02T15:00:00Z"},
	} {
		start, err := time.Parse(time.RFC3339, c.start)
		if err != nil {
			t.Fatal(err)
		}
		calendar := NewCalendar(start.UnixNano())
		at := func(tick int64) string {
			return time.Unix(0, calendar.Time(tick)).UTC().Format(time.RFC3339)
		}
		if at(0) != c.first || at(DayBars) != c.second || at(5*DayBars-1) != c.last {
			t.Errorf("from %s: %s, %s, %s", c.start, at(0), at(DayBars), at(5*DayBars-1))
		}
		if end := calendar.End(5); calendar.TicksBefore(end) != 5*DayBars {
			t.Errorf("from %s: five days have %d bars", c.start, calendar.TicksBefore(end))
		}
	}
	calendar := NewCalendar(monday.UnixNano())
	for tick := range int64(12 * DayBars) {
		at := calendar.Time(tick)
		if calendar.TicksBefore(at) != tick || calendar.TicksBefore(at+1) != tick+1 {
			t.Fatalf("bar %d: %d before it, %d up to it", tick, calendar.TicksBefore(at), calendar.TicksBefore(at+1))
		}
		clock := time.Unix(0, at).UTC()
		text := clock.Format("15:04")
		inside := "09:31" <= text && text <= "11:30" || "13:01" <= text && text <= "15:00"
		if !inside || clock.Weekday() == time.Saturday || clock.Weekday() == time.Sunday {
			t.Fatalf("bar %d is at %s", tick, clock)
		}
	}
}

func TestBarsAreOfTheTable(t *testing.T) {
	e := extent(40, 12)
	lines := strings.Split(strings.TrimSuffix(string(read(e, stream.Options{})), "\n"), "\n")
	if want := 40 * 12 * DayBars; len(lines) != want {
		t.Fatalf("%d bars, want %d", len(lines), want)
	}
	closed := map[int64]int64{}
	far := 0
	for number, line := range lines {
		var v [9]int64
		for i, text := range strings.Split(line, ",") {
			n, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			v[i] = n
		}
		stock, first, last, high, low, volume, amount, turn := v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8]
		if stock != int64(number%40+1) || high < max(first, last) || low > min(first, last) || low < 1 ||
			high >= 1<<24 || volume < 1 || volume >= 1<<32 || amount < 1 || amount >= 1<<32 || turn < 0 || turn >= 1<<16 {
			t.Fatalf("bar %s", line)
		}
		if before, ok := closed[stock]; ok && abs(first-before)*100 > before {
			far++
		}
		closed[stock] = last
	}
	if far*1000 > len(lines) {
		t.Errorf("%d of %d bars open more than 1 %% from where the one before closed", far, len(lines))
	}
}

func abs(n int64) int64 { return max(n, -n) }

func TestPartsJoinedAreTheWhole(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		e := extent(1+random.Int64N(9), 1+random.Int64N(9))
		whole := read(e, stream.Options{Workers: 1})
		if !bytes.Equal(whole, read(e, stream.Options{Workers: 2, PieceRows: 1 + random.Int64N(3000)})) {
			t.Fatal("the bytes depend on workers or pieces")
		}
		var joined []byte
		for at := e.Start; at < e.End; {
			part := e
			part.WindowStart = at
			part.WindowEnd = min(at+1+random.Int64N(3*day), e.End)
			joined = append(joined, read(part, stream.Options{})...)
			at = part.WindowEnd
		}
		if !bytes.Equal(whole, joined) {
			t.Fatalf("%d stocks: the windows joined are not the whole", e.Scale)
		}
		split := random.Int64N(e.Scale + 1)
		lines := [2][]string{}
		for i, part := range []dataset.Extent{e, e} {
			part.SeriesFirst, part.SeriesCount = int64(i)*split, split+int64(i)*(e.Scale-2*split)
			lines[i] = strings.SplitAfter(string(read(part, stream.Options{})), "\n")
		}
		joined = joined[:0]
		for tick := range len(whole) {
			for i, count := range []int64{split, e.Scale - split} {
				from := int64(tick) * count
				if from+count <= int64(len(lines[i])-1) {
					joined = append(joined, strings.Join(lines[i][from:from+count], "")...)
				}
			}
			if len(joined) == len(whole) {
				break
			}
		}
		if !bytes.Equal(whole, joined) {
			t.Fatalf("%d stocks: the ranges joined are not the whole", e.Scale)
		}
	}
}

func TestLineProtocol(t *testing.T) {
	g := New(extent(2, 1))
	s := stream.New(g, format.NewInflux(g), stream.Options{PieceRows: 2})
	defer s.Close()
	piece, _ := s.Next()
	csv := strings.Split(string(read(extent(2, 1), stream.Options{})), "\n")
	for i, line := range strings.Split(strings.TrimSpace(string(piece.Bytes)), "\n") {
		v := strings.Split(csv[i], ",")
		want := fmt.Sprintf("finance,stock_name=%s open=%si,close=%si,high=%si,low=%si,volume=%si,amount=%si,turn=%si %s",
			v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8], v[0])
		if line != want {
			t.Errorf("%s\nwant %s", line, want)
		}
	}
}

func BenchmarkInflux(b *testing.B) {
	g := New(extent(100, int64(b.N)/100/DayBars+1))
	s := stream.New(g, format.NewInflux(g), stream.Options{Workers: 1})
	defer s.Close()
	b.ReportAllocs()
	bytes, rows := 0, 0
	for rows < b.N {
		piece, _ := s.Next()
		rows, bytes = rows+int(piece.Rows), bytes+len(piece.Bytes)
		s.Release(piece)
	}
	b.SetBytes(int64(bytes / rows))
	b.ReportMetric(float64(rows)/b.Elapsed().Seconds()/1e6, "Mrows/s")
}
