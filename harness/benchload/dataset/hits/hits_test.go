package hits

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"benchbook/benchload/dataset"
	"benchbook/benchload/format"
	"benchbook/benchload/stream"
	"benchbook/benchload/stream/streamtest"
)

func extent(rows int64) dataset.Extent {
	return dataset.Extent{Seed: 62, Scale: rows, SeriesCount: rows, End: 1000, WindowEnd: 1000, Interval: 1000}
}

func lines(t *testing.T, x dataset.Extent, workers int) string {
	t.Helper()
	g := New(x)
	return string(streamtest.Read(g, format.NewInflux(g), stream.Options{PieceRows: 97, Workers: workers, Readers: 1}))
}

// The digest is of the first rows of every run; it may change only with the generator's name.
func TestTheBytesNeverChange(t *testing.T) {
	sum := sha256.Sum256([]byte(lines(t, extent(1000), 2)))
	if got, want := hex.EncodeToString(sum[:]), "0f8df63905e952057a5ddffe3cefb384c46036a83c71eef65358cf657d389a19"; got != want {
		t.Errorf("the digest is %s, want %s", got, want)
	}
}

func TestAnyPartitionJoinedIsTheWhole(t *testing.T) {
	whole := lines(t, extent(1000), 1)
	var parts string
	for _, part := range [][2]int64{{0, 1}, {1, 700}, {701, 299}} {
		x := extent(1000)
		x.SeriesFirst, x.SeriesCount = part[0], part[1]
		parts += lines(t, x, 3)
	}
	if parts != whole {
		t.Error("the parts differ from the whole")
	}
}

func TestTheTableHasTheColumnsOfThePublication(t *testing.T) {
	table := New(extent(1)).Tables()[0]
	if len(table.Tags) != 28 || len(table.Fields) != 77 {
		t.Errorf("the table has %d texts and %d numbers, want 28 and 77", len(table.Tags), len(table.Fields))
	}
}

// made is a column of a table: its numbers, or its texts.
type made struct {
	numbers []int64
	texts   []string
}

// columns makes a whole table.
func columns(rows int64) map[string]*made {
	g := New(extent(rows))
	block := dataset.Block{Ticks: 1, Count: int(rows), Width: g.Width(), Values: make([]int64, int(rows)*g.Width())}
	g.Fill(&block, 0, int(rows))
	found := map[string]*made{}
	for place, field := range g.Tables()[0].Fields {
		column := &made{}
		for row := range int(rows) {
			column.numbers = append(column.numbers, block.At(0, row)[place])
		}
		found[field.Name] = column
	}
	for place, name := range g.Tables()[0].Tags {
		column := &made{}
		for row := range rows {
			column.texts = append(column.texts, string(g.AppendTag(nil, row, 0, place)))
		}
		found[name] = column
	}
	return found
}

// Every question finds rows, and in about the shares that the experiment's README states.
func TestTheSharesAreThoseOfTheREADME(t *testing.T) {
	const rows = 50_000
	table := columns(rows)
	number := func(column string, is func(int64) bool) float64 {
		count := 0
		for _, value := range table[column].numbers {
			if is(value) {
				count++
			}
		}
		return float64(count) / rows
	}
	text := func(column string, is func(string) bool) float64 {
		count := 0
		for _, value := range table[column].texts {
			if is(value) {
				count++
			}
		}
		return float64(count) / rows
	}
	isSet := func(value int64) bool { return value != 0 }
	isEmpty := func(value string) bool { return value == "" }
	equals := func(wanted int64) func(int64) bool { return func(value int64) bool { return value == wanted } }
	for _, share := range []struct {
		what              string
		found, low, above float64
	}{
		{"CounterID = 62", number("CounterID", equals(62)), 0.083, 0.0834},
		{"AdvEngineID <> 0", number("AdvEngineID", isSet), 0.006, 0.01},
		{"IsRefresh", number("IsRefresh", isSet), 0.11, 0.14},
		{"DontCountHits", number("DontCountHits", isSet), 0.055, 0.07},
		{"IsLink", number("IsLink", isSet), 0.23, 0.27},
		{"IsMobile", number("IsMobile", isSet), 0.03, 0.12},
		{"UserID of question 20", number("UserID", equals(askedUser)), 0.00002, 0.0005},
		{"URLHash of question 42", number("URLHash", equals(askedPage)), 0.02, 0.04},
		{"RefererHash of question 41", number("RefererHash", equals(askedReferer)), 0.055, 0.07},
		{"no SearchPhrase", text("SearchPhrase", isEmpty), 0.86, 0.89},
		{"no Referer", text("Referer", isEmpty), 0.23, 0.27},
		{"no Title", text("Title", isEmpty), 0.02, 0.12},
		{"google in URL", text("URL", func(value string) bool { return strings.Contains(value, "google") }), 0.0002, 0.003},
		{"Google in Title", text("Title", func(value string) bool { return strings.Contains(value, "Google") }), 0.0003, 0.006},
	} {
		if share.found < share.low || share.found > share.above {
			t.Errorf("%s: a share of %g, want %g to %g", share.what, share.found, share.low, share.above)
		}
	}
}

// A few values are frequent and many are rare, as in logs of visits. No user is as frequent
// as the first site, page or region, and about a quarter as many users as rows have a view.
func TestDrawsAreSkewed(t *testing.T) {
	const rows = 50_000
	table := columns(rows)
	for column, want := range map[string]struct{ values, least, most int }{
		"UserID":      {rows / 5, rows / 4000, rows / 1000},
		"RegionID":    {1000, rows / 100, rows / 5},
		"CounterID":   {2000, rows / 100, rows / 5},
		"URLHash":     {rows / 20, rows / 100, rows / 5},
		"RefererHash": {rows / 20, rows / 100, rows / 2},
	} {
		counts := map[int64]int{}
		for _, value := range table[column].numbers {
			counts[value]++
		}
		most := 0
		for _, count := range counts {
			most = max(most, count)
		}
		if len(counts) < want.values || len(counts) > rows/2 || most < want.least || most > want.most {
			t.Errorf("%s has %d values in %d rows, the most frequent one %d times", column, len(counts), rows, most)
		}
	}
	watches := map[int64]bool{}
	for _, value := range table["WatchID"].numbers {
		watches[value] = true
	}
	if len(watches) != rows {
		t.Errorf("WatchID has %d values in %d rows", len(watches), rows)
	}
}

// The rows of a site are next to each other, and span the month if they are many.
func TestRowsAreInTheOrderOfSiteAndTime(t *testing.T) {
	for _, rows := range []int64{1, 11, 12, 13, 1000, 50_000} {
		table := columns(rows)
		sites, times := table["CounterID"].numbers, table["EventTime"].numbers
		first := 0
		for row := range sites {
			if row > 0 && sites[row] < sites[row-1] {
				t.Fatalf("of %d rows, row %d has the site %d after %d", rows, row, sites[row], sites[row-1])
			}
			if row == 0 || sites[row] != sites[row-1] {
				first = row
			} else if times[row] < times[row-1] {
				t.Fatalf("of %d rows, row %d has the time %d after %d", rows, row, times[row], times[row-1])
			}
			count := int64(row - first + 1)
			isLast := row+1 == len(sites) || sites[row+1] != sites[row]
			if isLast && count > 31 && (times[first] >= firstSecond+daySeconds || times[row] < firstSecond+seconds-daySeconds) {
				t.Fatalf("of %d rows, the %d of site %d are from %d to %d", rows, count, sites[row], times[first], times[row])
			}
		}
		if place := slices.Index(sites, askedCounter); rows > 11 && (place < int(rows)/3 || sites[place-1] >= askedCounter) {
			t.Errorf("of %d rows, those of site %d begin at row %d", rows, askedCounter, place)
		}
	}
}

func TestValuesFitTheirColumns(t *testing.T) {
	table := columns(20_000)
	for row, time := range table["EventTime"].numbers {
		if time < firstSecond || time >= firstSecond+seconds {
			t.Fatalf("EventTime is %d in row %d", time, row)
		}
		if date := table["EventDate"].numbers[row]; date != time/daySeconds {
			t.Fatalf("EventDate is %d at %d", date, time)
		}
	}
	for _, column := range []string{"Interests", "WindowClientWidth", "OS", "MobilePhone", "FetchTiming"} {
		for _, value := range table[column].numbers {
			if value < -1<<15 || value >= 1<<15 {
				t.Fatalf("%s is %d, which needs more than 16 bits", column, value)
			}
		}
	}
	for _, value := range table["ClientIP"].numbers {
		if value-3 < -1<<31 || value >= 1<<31 {
			t.Fatalf("ClientIP is %d: question 36 subtracts 3 in 32 bits", value)
		}
	}
	for name, column := range table {
		for _, value := range column.texts {
			if strings.ContainsAny(value, " ,=\\\n") {
				t.Fatalf("%s is %q, which line protocol would have to escape", name, value)
			}
		}
	}
}

func TestQuestionsStateTheirLimit(t *testing.T) {
	found, err := Queries(extent(1_000_000), 1, []string{"q1", "q43"}, 1)
	if err != nil || len(found) != 2 || found[1].Form != "q43" || found[1].Table != "hits" || found[1].Limit != 1000 {
		t.Errorf("found %+v, %v", found, err)
	}
	if _, err := Queries(extent(1), 1, []string{"q44"}, 1); err == nil {
		t.Error("there is no question q44")
	}
}

func BenchmarkInflux(b *testing.B) {
	g := New(extent(int64(b.N)))
	s := stream.New(g, format.NewInflux(g), stream.Options{Workers: 1})
	defer s.Close()
	b.ReportAllocs()
	rows := 0
	for rows < b.N {
		piece, _ := s.Next()
		rows += int(piece.Rows)
		s.Release(piece)
	}
	b.ReportMetric(float64(rows)/b.Elapsed().Seconds()/1e6, "Mrows/s")
}
