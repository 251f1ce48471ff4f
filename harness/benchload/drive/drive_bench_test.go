package drive_test

import (
	"context"
	"io"
	"path/filepath"
	"testing"

	"benchbook/benchload/drive"
	"benchbook/benchload/event"
	"benchbook/benchload/measure"
	"benchbook/benchload/operation"
	"benchbook/benchload/target/null"
)

// BenchmarkQueries is what the driver itself costs a query: a server that answers
// at once is asked by two workers.
func BenchmarkQueries(b *testing.B) {
	b.Run("histograms", func(b *testing.B) { benchmarkQueries(b, nil) })
	b.Run("operations", func(b *testing.B) {
		file, err := operation.Create(filepath.Join(b.TempDir(), "query.parquet"))
		if err != nil {
			b.Fatal(err)
		}
		benchmarkQueries(b, file)
		waited, err := file.Close()
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(waited)/float64(b.N), "ns-waited/op")
	})
}

func benchmarkQueries(b *testing.B, file *operation.File) {
	run := measure.NewRun(event.NewWriter(io.Discard), "query", 2, false).Keep(file)
	b.ReportAllocs()
	run.Start()
	b.ResetTimer()
	drive.Warm(context.Background(), [][]byte{[]byte("q")}, int64(b.N), null.Null{}, run, 2)
	b.StopTimer()
	run.Stop()
}
