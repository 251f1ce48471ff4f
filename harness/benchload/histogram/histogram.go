// Package histogram counts latencies in High Dynamic Range histograms and writes them
// losslessly in the V2 format that all HdrHistogram libraries read.
//
// Counting and adding are here and not in the library: at three digits up to an hour
// the library takes twice as long to record a value and ten times as long to add and
// reset a histogram, which every worker does once per second.
package histogram

import (
	"math/bits"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// The range: 1 ns to 1 h at three significant digits, in nanoseconds. The lowest
// value is 1 ns and not 1 µs so that a microsecond has three digits too.
const (
	Lowest  = 1
	Highest = 3_600_000_000_000
	Digits  = 3
)

// subBuckets is the number of equal parts of a bucket; 2048 is the first power
// of two at which a part is at most 1/1000 of a value of the bucket.
const (
	subBuckets = 2048
	subBits    = 11
	buckets    = 32 // 2048·2^31 is the first power of two above Highest
	counters   = (buckets + 1) * (subBuckets / 2)
)

// Histogram counts latencies. The zero value is empty. It belongs to one goroutine.
type Histogram struct {
	counts []int64
	Count  uint64
	Sum    float64 // of the recorded values, ns
	Min    int64
	Max    int64
}

// index returns the counter of a value.
func index(value int64) int {
	bucket := bits.Len64(uint64(value)|(subBuckets-1)) - subBits
	return bucket*(subBuckets/2) + int(value>>bucket)
}

// lowestOf returns the lowest value of a counter.
func lowestOf(index int) int64 {
	bucket := max(index/(subBuckets/2)-1, 0)
	return int64(index-bucket*(subBuckets/2)) << bucket
}

// Record counts one latency in nanoseconds. Values outside the range count as its
// nearest value; Min and Max keep them unchanged.
func (h *Histogram) Record(value int64) {
	if h.counts == nil {
		h.counts = make([]int64, counters)
	}
	if h.Count == 0 || value < h.Min {
		h.Min = value
	}
	h.Max = max(h.Max, value)
	h.Count++
	h.Sum += float64(value)
	h.counts[index(min(max(value, 0), Highest))]++
}

// Add adds the counts of another histogram.
func (h *Histogram) Add(other *Histogram) {
	if other.Count == 0 {
		return
	}
	if h.counts == nil {
		h.counts = make([]int64, counters)
	}
	if h.Count == 0 || other.Min < h.Min {
		h.Min = other.Min
	}
	h.Max = max(h.Max, other.Max)
	h.Count += other.Count
	h.Sum += other.Sum
	for i, n := range other.used() {
		h.counts[i] += n
	}
}

// used returns the counters up to that of the largest value.
func (h *Histogram) used() []int64 {
	if h.Count == 0 {
		return nil
	}
	return h.counts[:index(min(max(h.Max, 0), Highest))+1]
}

// Reset empties the histogram and keeps its memory.
func (h *Histogram) Reset() {
	clear(h.used())
	*h = Histogram{counts: h.counts}
}

// Mean returns the mean of the values themselves; zero if there are none.
func (h *Histogram) Mean() float64 {
	if h.Count == 0 {
		return 0
	}
	return h.Sum / float64(h.Count)
}

// Encode returns the histogram in the compressed V2 format, in base64.
func (h *Histogram) Encode() string {
	counts := h.counts
	if counts == nil {
		counts = make([]int64, counters)
	}
	library := hdrhistogram.Import(&hdrhistogram.Snapshot{
		LowestTrackableValue: Lowest, HighestTrackableValue: Highest, SignificantFigures: Digits,
		IntegerToDoubleConversionRatio: 1, Counts: counts,
	})
	text, err := library.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	if err != nil {
		panic("histogram: " + err.Error()) // it is written to memory
	}
	return string(text)
}
