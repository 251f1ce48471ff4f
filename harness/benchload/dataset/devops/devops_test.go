package devops_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/influxdata/line-protocol/v2/lineprotocol"

	"benchbook/benchload/dataset"
	"benchbook/benchload/dataset/devops"
	"benchbook/benchload/format"
	"benchbook/benchload/stream"
	"benchbook/benchload/stream/streamtest"
)

const (
	start    = 1451606400_000000000
	interval = 10_000000000
)

func extent(hosts, ticks int64) dataset.Extent {
	return dataset.Extent{
		Seed: 123, Scale: hosts, Start: start, End: start + ticks*interval, Interval: interval,
		WindowStart: start, WindowEnd: start + ticks*interval, SeriesCount: hosts,
	}
}

// lines gives a dataset in line protocol.
func lines(e dataset.Extent) []byte {
	generator := devops.New(e)
	return streamtest.Read(generator, format.NewInflux(generator), stream.Options{})
}

// golden is the digest of a small dataset. It changes only if all published
// digests are meant to change.
const golden = "1cba297a25f1ef58823d0d01734db695a5cf455891e26f1817d55a7d55461dc6"

func TestTheBytesAreTheGoldenOnes(t *testing.T) {
	sum := sha256.Sum256(lines(extent(10, 360)))
	if got := hex.EncodeToString(sum[:]); got != golden {
		t.Errorf("the digest is %s, want %s", got, golden)
	}
}

func TestTheShapeIsThatOfTheSuite(t *testing.T) {
	generator := devops.New(extent(1, 1))
	if got := strings.Join(devops.TableNames(), " "); got != "cpu diskio disk kernel mem net nginx postgresl redis" {
		t.Errorf("the tables are %s", got)
	}
	counts := []int{10, 7, 7, 6, 9, 8, 7, 16, 31}
	tags := []int{10, 11, 12, 10, 10, 11, 12, 10, 12}
	for i, table := range generator.Tables() {
		if len(table.Fields) != counts[i] || len(table.Tags) != tags[i] {
			t.Errorf("%s has %d fields and %d tags, want %d and %d", table.Name, len(table.Fields), len(table.Tags), counts[i], tags[i])
		}
	}
	if generator.Width() != devops.Fields {
		t.Errorf("there are %d fields, want %d", generator.Width(), devops.Fields)
	}
}

// row is what an independent parser reads.
type row struct {
	table, host string
	tags        int
	time        int64
	fields      map[string]float64
}

// parse reads line protocol with the library of its inventors.
func parse(t *testing.T, text []byte) []row {
	t.Helper()
	var rows []row
	decoder := lineprotocol.NewDecoderWithBytes(text)
	for decoder.Next() {
		table, err := decoder.Measurement()
		check(t, err)
		r := row{table: string(table), fields: map[string]float64{}}
		for {
			key, value, err := decoder.NextTag()
			check(t, err)
			if key == nil {
				break
			}
			if string(key) == "hostname" {
				r.host = string(value)
			}
			r.tags++
		}
		for {
			key, value, err := decoder.NextField()
			check(t, err)
			if key == nil {
				break
			}
			if value.Kind() == lineprotocol.Int {
				r.fields[string(key)] = float64(value.IntV())
			} else {
				r.fields[string(key)] = value.FloatV()
			}
		}
		when, err := decoder.Time(lineprotocol.Nanosecond, timeZero)
		check(t, err)
		r.time = when.UnixNano()
		rows = append(rows, r)
	}
	return rows
}

func TestAnIndependentParserReadsWhatWasMeant(t *testing.T) {
	e := extent(3, 50)
	generator := devops.New(e)
	rows := parse(t, lines(e))
	if int64(len(rows)) != dataset.Rows(generator) {
		t.Fatalf("%d rows, want %d", len(rows), dataset.Rows(generator))
	}
	tables := generator.Tables()
	for i, r := range rows {
		table := tables[i%9]
		if r.table != table.Name || r.host != devops.HostName(int64(i/9%3)) || r.time != start+int64(i/27)*interval {
			t.Fatalf("row %d is of %s, %s at %d", i, r.table, r.host, r.time)
		}
		if r.tags != len(table.Tags) || len(r.fields) != len(table.Fields) {
			t.Fatalf("row %d has %d tags and %d fields, want %d and %d", i, r.tags, len(r.fields), len(table.Tags), len(table.Fields))
		}
	}
}

func TestValuesKeepTheirLaws(t *testing.T) {
	before := map[string]row{}
	var steps, squares float64
	for _, r := range parse(t, lines(extent(4, 2000))) {
		last, known := before[r.table+r.host]
		before[r.table+r.host] = r
		switch r.table {
		case "cpu":
			for name, value := range r.fields {
				if value < 0 || value >= 100 {
					t.Fatalf("%s is %v", name, value)
				}
			}
			if known && r.fields["usage_user"] > 6 && r.fields["usage_user"] < 94 {
				step := r.fields["usage_user"] - last.fields["usage_user"]
				steps++
				squares += step * step
			}
		case "diskio", "net":
			for name, value := range r.fields {
				if known && value < last.fields[name] {
					t.Fatalf("the counter %s.%s falls", r.table, name)
				}
			}
		case "disk":
			if r.fields["free"]+r.fields["used"] != r.fields["total"] {
				t.Fatalf("disk is %v", r.fields)
			}
		case "mem":
			if r.fields["used"]+r.fields["available"] != r.fields["total"] || r.fields["used"] != r.fields["free"] ||
				math.Abs(r.fields["used_percent"]+r.fields["available_percent"]-100) > 1e-9 ||
				math.Abs(r.fields["used"]/r.fields["total"]*100-r.fields["used_percent"]) > 1e-6 {
				t.Fatalf("mem is %v", r.fields)
			}
		}
	}
	if variance := squares / steps; math.Abs(variance-1) > 0.08 {
		t.Errorf("the variance of the steps of cpu.usage_user is %v, want 1", variance)
	}
	cpu := before["redishost_0"]
	if cpu.fields["uptime_in_seconds"] != 19990 {
		t.Errorf("the uptime is %v, want 19990", cpu.fields["uptime_in_seconds"])
	}
	if interrupts := before["kernelhost_0"].fields["interrupts"]; math.Abs(interrupts-5*1999) > 6*math.Sqrt(2000) {
		t.Errorf("kernel.interrupts is %v after 1999 steps of five", interrupts)
	}
}

func TestSeedsAndHostsDiffer(t *testing.T) {
	one, two := extent(2, 5), extent(2, 5)
	two.Seed++
	if bytes.Equal(lines(one), lines(two)) {
		t.Error("two seeds have the same bytes")
	}
	rows := parse(t, lines(one))
	if rows[18].fields["usage_user"] == rows[27].fields["usage_user"] {
		t.Error("two hosts have the same value")
	}
}

func BenchmarkFill(b *testing.B) {
	generator := devops.New(extent(1, 64))
	block := dataset.Block{Ticks: 64, Count: 1, Width: devops.Fields, Tables: 9, Values: make([]int64, 64*devops.Fields)}
	b.SetBytes(64 * devops.Fields)
	for range b.N {
		generator.Fill(&block, 0, 1)
	}
}

// timeZero is for rows without a time, of which there are none.
var timeZero = time.Time{}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
