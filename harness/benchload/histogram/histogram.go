// Package histogram counts latencies in High Dynamic Range histograms, written
// whole in the V2 format that all HdrHistogram libraries read.
package histogram

import "math/bits"

// The range: 1 ns to 1 h at three significant digits, in nanoseconds. The lowest
// value is 1 ns and not 1 µs, so that a microsecond too has its three digits.
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
	buckets    = 32 // 2048·2^31 is the first power above Highest
	counters   = (buckets + 1) * (subBuckets / 2)
)

// Histogram counts latencies. The zero value is empty. It belongs to one goroutine.
type Histogram struct {
	counts []uint64
	Count  uint64
	Sum    float64 // of the recorded values, ns
	Min    int64
	Max    int64
}

// index is the counter of a value.
func index(value int64) int {
	bucket := bits.Len64(uint64(value)|(subBuckets-1)) - subBits
	return bucket*(subBuckets/2) + int(value>>bucket)
}

// lowestOf is the lowest value that a counter stands for.
func lowestOf(index int) int64 {
	bucket := max(index/(subBuckets/2)-1, 0)
	return int64(index-bucket*(subBuckets/2)) << bucket
}

// highestOf is the highest value that a counter stands for.
func highestOf(index int) int64 { return lowestOf(index+1) - 1 }

// Record counts one latency in nanoseconds. Values outside the range are put on
// its border; Min and Max keep them as they were.
func (h *Histogram) Record(value int64) {
	if h.counts == nil {
		h.counts = make([]uint64, counters)
	}
	if h.Count == 0 || value < h.Min {
		h.Min = value
	}
	h.Max = max(h.Max, value)
	h.Count++
	h.Sum += float64(value)
	h.counts[index(min(max(value, 0), Highest))]++
}

// Add takes over the counts of another histogram.
func (h *Histogram) Add(other *Histogram) {
	if other.Count == 0 {
		return
	}
	if h.counts == nil {
		h.counts = make([]uint64, counters)
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

// used is the counts up to the largest value.
func (h *Histogram) used() []uint64 {
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

// Mean of the values, not of the counters; zero if there are none.
func (h *Histogram) Mean() float64 {
	if h.Count == 0 {
		return 0
	}
	return h.Sum / float64(h.Count)
}

// Quantile is the highest value of the counter that holds this part (0 … 1) of the values.
func (h *Histogram) Quantile(part float64) int64 {
	rank := max(uint64(part*float64(h.Count)+0.5), 1)
	sum := uint64(0)
	for i, n := range h.used() {
		sum += n
		if sum >= rank {
			return min(highestOf(i), h.Max)
		}
	}
	return h.Max
}
