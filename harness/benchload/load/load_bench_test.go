package load_test

import (
	"context"
	"io"
	"testing"

	"benchbook/benchload/dataset"
	"benchbook/benchload/dataset/devops"
	"benchbook/benchload/drive"
	"benchbook/benchload/event"
	"benchbook/benchload/format"
	"benchbook/benchload/load"
	"benchbook/benchload/measure"
	"benchbook/benchload/stream"
	"benchbook/benchload/target/null"
)

// extentOf is a devops dataset of at least so many rows.
func extentOf(rows int64) dataset.Extent {
	const hosts, interval, start = 100, 10e9, 1451606400e9
	end := int64(start) + (rows/(9*hosts)+1)*interval
	return dataset.Extent{Seed: 1, Scale: hosts, Start: start, End: end, Interval: interval,
		WindowStart: start, WindowEnd: end, SeriesCount: hosts}
}

// BenchmarkInflux is the whole way of a row into nothing: generated,
// rendered, handed to a worker, counted.
func BenchmarkInflux(b *testing.B) {
	generator := devops.New(extentOf(int64(b.N)))
	source := load.NewGenerated(stream.New(generator, format.NewInflux(generator),
		stream.Options{PieceRows: 5000, Readers: 2}), dataset.Rows(generator))
	defer source.Stop()
	run := measure.NewRun(event.NewWriter(io.Discard), 2, false, "write")
	b.ResetTimer()
	summary, _, err := load.Work(source, null.Null{}, drive.Pace{Workers: 2}, drive.Rule{}).Run(context.Background(), run)
	if err != nil {
		b.Fatal(err)
	}
	b.StopTimer()
	b.SetBytes(summary.Bytes / int64(b.N))
}
