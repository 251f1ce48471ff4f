// Package clients is one load by several processes: shares of the dataset, a
// start at the same moment, and their events merged into those of one load.
package clients

import "benchbook/benchload/dataset"

// Share cuts a dataset for one of several clients: by series, so that each writes
// its own, or by time, so that each writes all series over its own window.
func Share(e dataset.Extent, by string, index, count int64) dataset.Extent {
	if by == "series" {
		return e.Client(index, count)
	}
	first, end := e.Ticks()
	start, stop := e.WindowStart, e.WindowEnd
	if index > 0 {
		e.WindowStart = max(start, e.Time(first+part(end-first, index, count)))
	}
	if index < count-1 {
		e.WindowEnd = min(stop, e.Time(first+part(end-first, index+1, count)))
	}
	if first == end {
		e.WindowStart, e.WindowEnd = start, start
	}
	return e
}

// part is index/count of a length, without overflow.
func part(length, index, count int64) int64 {
	return length/count*index + length%count*index/count
}
