package null_test

import (
	"bytes"
	"context"
	"testing"
	"time"

	"benchbook/benchload/dataset"
	"benchbook/benchload/event"
	"benchbook/experiments/kline-mysql-vs-kv/client/bars"
	"benchbook/experiments/kline-mysql-vs-kv/client/bars/null"
	"benchbook/experiments/kline-mysql-vs-kv/client/kline"
)

func TestItAnswersAsTheDatasetHas(t *testing.T) {
	start := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano()
	days := bars.NewDays(dataset.Extent{
		Seed: 1, Scale: 3, Start: start, End: kline.NewCalendar(start).End(20), WindowStart: start,
		WindowEnd: kline.NewCalendar(start).End(20), SeriesCount: 3,
	})
	for _, kind := range []string{bars.Short, bars.Long} {
		requests, err := days.Requests(bars.Asking{Type: kind, Seed: 1, Count: 30})
		if err != nil {
			t.Fatal(err)
		}
		answered, rows, failed := bars.Answers(context.Background(), days, null.Store{Days: days}, requests, event.NewWriter(&bytes.Buffer{}))
		if answered != 30 || failed != 0 || rows < 30 {
			t.Errorf("%s: %d answers with %d bars, %d failed", kind, answered, rows, failed)
		}
	}
}
