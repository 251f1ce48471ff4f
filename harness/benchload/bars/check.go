package bars

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
)

// Check compares an answer with what the dataset has; nil where it is the same.
// Answers may come in any order.
func (m *Maker) Check(request *Request, answer *Answer) error {
	slices.SortFunc(answer.Bars, func(a, b Bar) int { return int(a.Time - b.Time) })
	if got := int64(len(answer.Bars)); got != request.Bars {
		return fmt.Errorf("request %d: %d bars, and the dataset has %d", request.ID, got, request.Bars)
	}
	truth := m.between(request)
	for i := range truth {
		if answer.Bars[i] != truth[i] {
			return fmt.Errorf("request %d: bar %d is %v, and the dataset has %v", request.ID, i, answer.Bars[i], truth[i])
		}
	}
	return nil
}

// between makes the bars that a request asks for.
func (m *Maker) between(request *Request) []Bar {
	var all []Bar
	extent := m.days.extent
	first, end := extent.Ticks()
	from := max(extent.Clock.TicksBefore(request.From*second), first) - first
	to := min(extent.Clock.TicksBefore((request.To+1)*second), end) - first
	if from >= to {
		return nil
	}
	const dayBars = 240
	firstDay, lastDay := from/dayBars, (to-1)/dayBars
	all = m.Append(all, int64(request.Stock), firstDay, lastDay-firstDay+1)
	return all[from-firstDay*dayBars : to-firstDay*dayBars]
}

// Digest is the SHA-256 of the bars of an answer, packed, in the order of time.
func (a *Answer) Digest() string {
	slices.SortFunc(a.Bars, func(x, y Bar) int { return int(x.Time - y.Time) })
	sum := sha256.New()
	var text [Size]byte
	for i := range a.Bars {
		sum.Write(a.Bars[i].Append(text[:0]))
	}
	return hex.EncodeToString(sum.Sum(nil))
}
