package histogram

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"io"
	"math/rand/v2"
	"sort"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"
)

func TestQuantilesHaveThreeDigits(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	var h Histogram
	var values []int64
	for range 100000 {
		value := int64(1000) << random.IntN(31)
		value += random.Int64N(value)
		value = min(value, Highest)
		h.Record(value)
		values = append(values, value)
	}
	encoded, err := hdrhistogram.Decode([]byte(h.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	sort.Slice(values, func(i, j int) bool { return values[i] < values[j] })
	for _, part := range []float64{0.001, 0.5, 0.9, 0.99, 0.9999, 1} {
		exact := values[max(int(part*float64(len(values))+0.5), 1)-1]
		if got := encoded.ValueAtPercentile(100 * part); float64(got-exact) > float64(exact)/1000+1 || got < exact {
			t.Errorf("the quantile %v is %d, exactly %d", part, got, exact)
		}
	}
	if h.Min != values[0] || h.Max != values[len(values)-1] {
		t.Errorf("from %d to %d, want %d to %d", h.Min, h.Max, values[0], values[len(values)-1])
	}
}

func TestEveryCounterStandsForItsValues(t *testing.T) {
	for i := range counters - 1 {
		if index(lowestOf(i)) != i || index(lowestOf(i+1)-1) != i {
			t.Fatalf("counter %d covers %d … %d, which belong to %d … %d", i,
				lowestOf(i), lowestOf(i+1)-1, index(lowestOf(i)), index(lowestOf(i+1)-1))
		}
	}
	if last := index(Highest); last >= counters {
		t.Errorf("the highest value has the counter %d of %d", last, counters)
	}
	if library := len(hdrhistogram.New(Lowest, Highest, Digits).Export().Counts); library != counters {
		t.Errorf("there are %d counters, in the library %d", counters, library)
	}
}

func TestAddAndReset(t *testing.T) {
	var a, b, sum Histogram
	for i := range int64(1000) {
		a.Record(i * 1000)
		b.Record(i * 1_000_000)
		sum.Record(i * 1000)
		sum.Record(i * 1_000_000)
	}
	a.Add(&b)
	a.Add(&Histogram{})
	if a.Encode() != sum.Encode() || a.Count != sum.Count || a.Mean() != sum.Mean() || a.Max != sum.Max {
		t.Error("the sum of two histograms is not the histogram of both")
	}
	a.Reset()
	if a.Count != 0 || a.Encode() != new(Histogram).Encode() {
		t.Error("an emptied histogram is not empty")
	}
}

// decode reads the V2 format as its description says, as another library would.
func decode(t testing.TB, text string) map[int]int64 {
	all, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	if cookie := binary.BigEndian.Uint32(all); cookie != 0x1C849314 {
		t.Fatalf("the cookie is %x", cookie)
	}
	if size := int(binary.BigEndian.Uint32(all[4:])); size != len(all)-8 {
		t.Fatalf("the size is %d of %d", size, len(all)-8)
	}
	reader, err := zlib.NewReader(bytes.NewReader(all[8:]))
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	if cookie := binary.BigEndian.Uint32(body); cookie != 0x1C849313 {
		t.Fatalf("the inner cookie is %x", cookie)
	}
	counts := map[int]int64{}
	at := 0
	for rest := body[40:]; len(rest) > 0; {
		n, size := uint64(0), 0
		for {
			b := rest[size]
			if size == 8 {
				n |= uint64(b) << 56
			} else {
				n |= uint64(b&0x7F) << (7 * size)
			}
			size++
			if size == 9 || b < 0x80 {
				break
			}
		}
		rest = rest[size:]
		if value := int64(n>>1) ^ -int64(n&1); value < 0 {
			at += int(-value)
		} else {
			if value > 0 { // a single zero may be written as itself
				counts[at] = value
			}
			at++
		}
	}
	return counts
}

func TestTheEncodingIsReadBack(t *testing.T) {
	var h Histogram
	random := rand.New(rand.NewPCG(2, 2))
	want := map[int]int64{}
	for range 5000 {
		value := random.Int64N(Highest) >> random.IntN(40)
		h.Record(value)
		want[index(value)]++
	}
	h.counts[index(77)] += 1 << 60
	want[index(77)] += 1 << 60
	got := decode(t, h.Encode())
	if len(got) != len(want) {
		t.Fatalf("%d counters were read back, want %d", len(got), len(want))
	}
	for i, n := range want {
		if got[i] != n {
			t.Errorf("counter %d is %d, want %d", i, got[i], n)
		}
	}
}

func TestValuesOutsideTheRangeAreCounted(t *testing.T) {
	var h Histogram
	h.Record(-5)
	h.Record(Highest * 2)
	if h.Count != 2 || h.Min != -5 || h.Max != 2*Highest || len(decode(t, h.Encode())) != 2 {
		t.Errorf("the histogram is %+v", h.Count)
	}
}

// The library reads what was counted, to the last counter.
func TestTheLibraryReadsTheEncoding(t *testing.T) {
	var h Histogram
	library := hdrhistogram.New(Lowest, Highest, Digits)
	random := rand.New(rand.NewPCG(3, 3))
	for range 5000 {
		value := random.Int64N(Highest) >> random.IntN(40)
		h.Record(value)
		if err := library.RecordValue(value); err != nil {
			t.Fatal(err)
		}
	}
	if decoded, err := hdrhistogram.Decode([]byte(h.Encode())); err != nil || !decoded.Equals(library) {
		t.Errorf("the library reads another histogram (%v)", err)
	}
}

func BenchmarkEncode(b *testing.B) {
	var h Histogram
	for i := range int64(5000) {
		h.Record(i * 97_000 % 9_000_000)
	}
	for b.Loop() {
		_ = h.Encode()
	}
}

func BenchmarkRecord(b *testing.B) {
	var h Histogram
	for i := range b.N {
		h.Record(int64(i) * 97 & 0xFFFFFF)
	}
}
