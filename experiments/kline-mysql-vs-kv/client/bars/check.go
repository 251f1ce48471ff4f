package bars

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"benchbook/benchload/event"
	"benchbook/benchload/system"
	"benchbook/experiments/kline-mysql-vs-kv/client/kline"
)

// Answers asks each request once, unmeasured, compares its answer with the dataset and
// writes the digest. It returns how many answers are right, their rows, and how many
// requests failed.
func Answers(ctx context.Context, days *Days, store Store, requests []Request, events *event.Writer) (right, rows, failed int64) {
	client, err := store.Connect()
	if err != nil {
		events.Error(system.AsFailure(err).Event())
		return 0, 0, 1
	}
	defer client.Close()
	defer context.AfterFunc(ctx, client.Interrupt)()
	maker := days.Maker()
	var answer Answer
	for i := range requests {
		if ctx.Err() != nil {
			return right, rows, failed
		}
		answer.Reset()
		failure := system.AsFailure(client.Read(&requests[i], true, &answer))
		if failure == nil {
			if wrong := maker.Check(&requests[i], &answer); wrong != nil {
				failure = &system.Failure{Kind: system.BadAnswer, Message: wrong.Error()}
			}
		}
		if failure != nil {
			failed++
			events.Error(failure.Event())
			continue
		}
		right++
		rows += answer.Rows
		events.Answer(event.Answer{
			ID: requests[i].ID, QueryType: requests[i].Type, Columns: []string{"bars", "sha256"},
			Rows: [][]any{{answer.Rows, answer.Digest()}},
		})
	}
	return right, rows, failed
}

// Check compares an answer with the dataset; nil if they are equal. The bars of an
// answer may have any order.
func (m *Maker) Check(request *Request, answer *Answer) error {
	slices.SortFunc(answer.Bars, func(a, b Bar) int { return int(a.Time - b.Time) })
	if got := int64(len(answer.Bars)); got != request.Bars {
		return fmt.Errorf("request %d returned %d bars, but the dataset has %d", request.ID, got, request.Bars)
	}
	truth := m.Between(nil, request)
	for i := range truth {
		if answer.Bars[i] != truth[i] {
			return fmt.Errorf("request %d: bar %d is %v, but the dataset has %v", request.ID, i, answer.Bars[i], truth[i])
		}
	}
	return nil
}

// Between appends the bars that a request asks for.
func (m *Maker) Between(all []Bar, request *Request) []Bar {
	extent := m.days.extent
	first, end := extent.Ticks()
	from := max(extent.Clock.TicksBefore(request.From*second), first) - first
	to := min(extent.Clock.TicksBefore((request.To+1)*second), end) - first
	if from >= to {
		return all
	}
	firstDay, lastDay := from/kline.DayBars, (to-1)/kline.DayBars
	held := len(all)
	all = m.Append(all, int64(request.Stock), firstDay, lastDay-firstDay+1)
	asked := all[held:][from-firstDay*kline.DayBars : to-firstDay*kline.DayBars]
	return append(all[:held], asked...)
}

// Digest returns the SHA-256 of the bars of an answer, packed, in the order of time.
func (a *Answer) Digest() string {
	slices.SortFunc(a.Bars, func(x, y Bar) int { return int(x.Time - y.Time) })
	sum := sha256.New()
	var text [Size]byte
	for i := range a.Bars {
		sum.Write(a.Bars[i].Append(text[:0]))
	}
	return hex.EncodeToString(sum.Sum(nil))
}
