package iot

import (
	"bufio"
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"benchbook/benchload/dataset"
	"benchbook/benchload/stream"
)

// line is a line of line protocol, as a parser that knows nothing of the
// dataset sees it.
type line struct {
	table  string
	tags   map[string]string
	fields map[string]string
	time   int64
}

// parse takes a line apart: measurement and tags, fields, time.
func parse(t *testing.T, text string) line {
	t.Helper()
	parts := strings.Split(text, " ")
	if len(parts) != 3 {
		t.Fatalf("%d parts in %q", len(parts), text)
	}
	pairs := func(text string) map[string]string {
		found := map[string]string{}
		for _, pair := range strings.Split(text, ",") {
			name, value, ok := strings.Cut(pair, "=")
			if _, twice := found[name]; !ok || name == "" || value == "" || twice {
				t.Fatalf("%q in %q", pair, text)
			}
			found[name] = value
		}
		return found
	}
	table, tags, _ := strings.Cut(parts[0], ",")
	time, err := strconv.ParseInt(parts[2], 10, 64)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return line{table, pairs(tags), pairs(parts[1]), time}
}

// lines parses a dataset.
func lines(t *testing.T, e dataset.Extent) []line {
	var all []line
	scanner := bufio.NewScanner(bytes.NewReader(read(t, e, stream.Options{})))
	for scanner.Scan() {
		all = append(all, parse(t, scanner.Text()))
	}
	return all
}

// near fails if a share is not within a part of what is wanted.
func near(t *testing.T, what string, got, want, part float64) {
	t.Helper()
	if math.Abs(got-want) > part*want {
		t.Errorf("%s: %.5f, want %.5f", what, got, want)
	}
}

// The rates are those of the published dataset: 113,586,190 of 126,144,000 rows,
// 1.57 % of them after a row of a later time, all by one interval.
func TestShapeOfTheFleetOfAHundred(t *testing.T) {
	const trucks, ticks = 100, 2000
	e := extent(trucks, ticks)
	all := lines(t, e)
	near(t, "rows", float64(len(all))/(trucks*ticks*2), 113_586_190.0/126_144_000, 0.005)

	late, nameless, latest := 0, 0, int64(0)
	seen := map[string]bool{}
	rows := map[string]int{}
	values := map[string]map[string]int{"readings": {}, "diagnostics": {}}
	for _, l := range all {
		if l.time < latest {
			late++
			if latest-l.time != interval {
				t.Fatalf("a row is %d ns late", latest-l.time)
			}
		}
		latest = max(latest, l.time)
		rows[l.table]++
		for field := range l.fields {
			values[l.table][field]++
		}
		if l.tags["name"] == "" {
			nameless++
			continue
		}
		key := l.table + l.tags["name"] + strconv.FormatInt(l.time, 10)
		if seen[key] {
			t.Fatalf("%s occurs twice", key)
		}
		seen[key] = true
	}
	near(t, "late rows", float64(late)/float64(len(all)), 0.01569, 0.05)
	near(t, "rows without the name", float64(nameless)/float64(len(all)), 0.0018, 0.15)
	near(t, "absent latitudes", 1-float64(values["readings"]["latitude"])/float64(rows["readings"]), 0.009, 0.1)
	near(t, "absent grades", 1-float64(values["readings"]["grade"])/float64(rows["readings"]), 0.009, 0.1)
	near(t, "absent fuel states", 1-float64(values["diagnostics"]["fuel_state"])/float64(rows["diagnostics"]), 0.018, 0.1)
	near(t, "absent capacities", 1-float64(values["diagnostics"]["fuel_capacity"])/float64(rows["diagnostics"]), 0.009, 0.1)

	for i, count := range New(e).Census() {
		table := tables[i]
		if count.Rows != int64(rows[table.name]) {
			t.Errorf("%s: %d rows counted, %d found", table.name, count.Rows, rows[table.name])
		}
		for j, c := range table.columns {
			if found := int64(values[table.name][c.field.Name]); count.Values[j] != found {
				t.Errorf("%s.%s: %d values counted, %d found", table.name, c.field.Name, count.Values[j], found)
			}
		}
	}
}

// A small fleet has few rows a tick, so more of them cross its border: in the
// use case 12.5 % with ten trucks, 4.4 % if only rows of the same series are
// compared, up to 400 s; and 19 % with one truck.
func TestShapeOfSmallFleets(t *testing.T) {
	for _, c := range []struct {
		trucks, ticks int64
		late, series  float64
	}{{10, 6000, 0.125, 0.0437}, {1, 40000, 0.19, 0.188}} {
		late, behind, latest, most := 0, 0, int64(0), int64(0)
		perSeries := map[string]int64{}
		all := lines(t, extent(c.trucks, c.ticks))
		for _, l := range all {
			if l.time < latest {
				late++
				most = max(most, latest-l.time)
			}
			latest = max(latest, l.time)
			key := l.table + l.tags["name"]
			if l.time < perSeries[key] {
				behind++
			}
			perSeries[key] = max(perSeries[key], l.time)
		}
		near(t, "late rows", float64(late)/float64(len(all)), c.late, 0.05)
		near(t, "late rows in a series", float64(behind)/float64(len(all)), c.series, 0.15)
		if limit := (maxHeld/(2*c.trucks) + 1) * interval; most > limit || most < limit/3 {
			t.Errorf("%d trucks: up to %d ns late, the limit is %d", c.trucks, most, limit)
		}
	}
}

// Every value belongs to its tick, late or not, and in its range.
func TestValuesAreThoseOfTheirTick(t *testing.T) {
	e := extent(5, 700)
	g := New(e)
	ranges := map[string][2]float64{
		"latitude": {-90, 90}, "longitude": {-180, 180}, "elevation": {0, 5000}, "velocity": {0, 100},
		"heading": {0, 360}, "grade": {0, 100}, "fuel_consumption": {0, 50}, "load_capacity": {1500, 5000},
		"fuel_capacity": {150, 300}, "nominal_fuel_consumption": {12, 29}, "fuel_state": {0, 1},
		"current_load": {0, 5000}, "status": {0, 5},
	}
	block := dataset.Block{Ticks: 1, Width: g.Width(), Count: 5, Values: make([]int64, 5*g.Width())}
	for _, l := range lines(t, e) {
		block.Tick = (l.time - start) / interval
		name, ok := strings.CutPrefix(l.tags["name"], "truck_")
		truck, err := strconv.Atoi(name)
		if !ok || err != nil {
			continue // without the name
		}
		g.Fill(&block, truck, truck+1)
		made := block.At(0, truck)
		table := slices.IndexFunc(tables, func(t table) bool { return t.name == l.table })
		for j, c := range tables[table].columns {
			text, ok := l.fields[c.field.Name]
			if !ok {
				continue
			}
			number, err := strconv.ParseFloat(strings.TrimSuffix(text, "i"), 64)
			if r := ranges[c.field.Name]; err != nil || number < r[0] || number > r[1] {
				t.Fatalf("%s is %q", c.field.Name, text)
			}
			if strings.HasSuffix(text, "i") != (c.field.Name == "status") {
				t.Fatalf("%s is %q", c.field.Name, text)
			}
			if want := float64(made[g.chosen[table].place+j]); math.Round(number*math.Pow10(int(c.field.Places))) != want {
				t.Fatalf("%s at tick %d is %s, made was %g", c.field.Name, block.Tick, text, want)
			}
		}
	}
}

// Steps have the deviation of the use case's, the tank falls until it is full
// again, and the load stays for twenty ticks.
func TestValuesBehave(t *testing.T) {
	const ticks = 4096
	g := New(extent(20, ticks))
	block := dataset.Block{Ticks: ticks, Width: g.Width(), Count: 20, Values: make([]int64, 20*ticks*g.Width())}
	g.Fill(&block, 0, 20)
	squares, changes, refills, border := 0.0, 0, 0, 0
	for truck := range 20 {
		for tick := 1; tick < ticks; tick++ {
			now, before := block.At(tick, truck), block.At(tick-1, truck)
			step := float64(now[1] - before[1]) // longitude
			squares += step * step
			if now[3] == 0 || now[3] == 100 {
				border++
			}
			fuel, load := g.chosen[1].place, g.chosen[1].place+1
			if now[load] != before[load] {
				changes++
			}
			if now[fuel] > before[fuel] {
				refills++
			} else if now[fuel] < before[fuel]-1 {
				t.Fatalf("the tank falls from %d to %d tenths", before[fuel], now[fuel])
			}
		}
	}
	const all = 20 * (ticks - 1)
	near(t, "step of the longitude", math.Sqrt(squares/all), 288.7, 0.01)
	near(t, "changes of the load", float64(changes)/all, 0.05, 0.05)
	near(t, "ticks of a tank", float64(all)/float64(refills), 2000, 0.1)
	near(t, "velocities at a border", float64(border)/all, 0.082, 0.35) // of the use case: 67706 + 56505 of 1.5 M
}

// A server keeps as many rows as there are.
func TestNoTwoRowsAreOfOneSeriesAndTime(t *testing.T) {
	nameless := 0
	rows := bytes.Split(bytes.TrimSpace(read(t, extent(5*laneTrucks, 60), stream.Options{})), []byte("\n"))
	seen := make(map[string]bool, len(rows))
	for _, row := range rows {
		head, rest, _ := bytes.Cut(row, []byte(" "))
		key := string(head) + string(rest[bytes.IndexByte(rest, ' '):])
		if seen[key] {
			t.Fatalf("%s occurs twice", key)
		}
		seen[key] = true
		if !bytes.Contains(head, []byte(",name=")) {
			nameless++
		}
	}
	near(t, "rows without the name", float64(nameless)/float64(len(rows)), 0.0018, 0.1)
}

func TestChance(t *testing.T) {
	ones := 0
	for word := range uint64(20000) {
		for bit := missing(7, int64(word)); bit != 0; bit &= bit - 1 {
			ones++
		}
	}
	near(t, "ones", float64(ones)/(20000*64), 51.0/512, 0.01)
}

func TestHeldWeights(t *testing.T) {
	sum := 0
	for _, rows := range heldBy {
		sum += int(rows)
	}
	// A row of a tick of two hundred is late with this chance: the mean held back
	// over all rows, divided by two hundred.
	near(t, "rows held back", float64(sum)/(1<<16)/200, 0.01569, 0.01)
}
