package drive_test

import (
	"context"
	"io"
	"path/filepath"
	"testing"

	"benchbook/benchload/drive"
	"benchbook/benchload/event"
	"benchbook/benchload/measure"
	"benchbook/benchload/query"
	"benchbook/benchload/query/spec"
	"benchbook/benchload/target/null"
)

// BenchmarkQueries is what the loop itself costs per query: two workers ask a server that
// answers at once.
func BenchmarkQueries(b *testing.B) {
	b.Run("histograms", func(b *testing.B) { benchmarkQueries(b, nil) })
	b.Run("operations", func(b *testing.B) {
		file, err := measure.CreateOperations(filepath.Join(b.TempDir(), "query.parquet"))
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

func benchmarkQueries(b *testing.B, file *measure.Operations) {
	run := measure.NewRun(event.NewWriter(io.Discard), 2, false, "query").Keep(file)
	work := query.Work([][]byte{[]byte("q")}, query.NewSeen(make([]spec.Query, 1)), null.Null{}, drive.Pace{Workers: 2, Operations: int64(b.N)})
	b.ReportAllocs()
	b.ResetTimer()
	if _, _, err := work.Run(context.Background(), run); err != nil {
		b.Fatal(err)
	}
}
