package measure

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"benchbook/benchload/system"
)

// kept is a row of the file.
type kept struct {
	operation, status                   string
	worker, intended, start, end, count int64
}

// read reads the whole file with Arrow's own reader.
func read(t *testing.T, path string) []kept {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	opened, err := file.NewParquetReader(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	arrows, err := pqarrow.NewFileReader(opened, pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
	if err != nil {
		t.Fatal(err)
	}
	table, err := arrows.ReadTable(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer table.Release()
	rows := make([]kept, table.NumRows())
	for column := range int(table.NumCols()) {
		row := 0
		for _, chunk := range table.Column(column).Data().Chunks() {
			for i := range chunk.Len() {
				r := &rows[row]
				switch values := chunk.(type) {
				case *array.String:
					*[]*string{&r.operation, 6: &r.status}[column] = strings.Clone(values.Value(i))
				case *array.Int64:
					*[]*int64{1: &r.worker, 2: &r.intended, 3: &r.start, 4: &r.end, 5: &r.count}[column] = values.Value(i)
				}
				row++
			}
		}
	}
	return rows
}

// Whatever workers record, at once and in any number, the file holds all of it,
// in the order of each worker.
func TestTheFileHoldsWhatWorkersRecorded(t *testing.T) {
	kinds := []system.FailureKind{"", system.Refused, system.Timeout, system.Connection, system.Server, system.BadAnswer, system.NotEmpty, "new"}
	for _, sizes := range [][]int{{}, {0}, {1}, {255}, {256, 257}, {70_000, 3, 60_000}} {
		path := filepath.Join(t.TempDir(), "new", "query.parquet")
		file, err := CreateOperations(path)
		if err != nil {
			t.Fatal(err)
		}
		origin := time.Now()
		file.begin(origin)
		file.begin(origin.Add(time.Hour)) // of the timed region after a warm-up: the clock stays
		want := make([][]kept, len(sizes))
		var done sync.WaitGroup
		for worker, log := range file.logs("query", len(sizes)) {
			done.Add(1)
			go func() {
				defer done.Done()
				chance := rand.New(rand.NewPCG(1, uint64(worker)))
				for range sizes[worker] {
					begun := origin.Add(time.Duration(chance.Int64N(1e12)))
					intended, ended := begun.Add(-time.Duration(chance.Int64N(1e9))), begun.Add(time.Duration(chance.Int64N(1e10)))
					row := kept{"query", "ok", int64(worker), int64(intended.Sub(origin)), int64(begun.Sub(origin)), int64(ended.Sub(origin)), chance.Int64N(1e6)}
					var failure *system.Failure
					if kind := kinds[chance.IntN(len(kinds))]; kind != "" {
						failure = &system.Failure{Kind: kind}
						if row.status = string(kind); kind == "new" {
							row.status = "other"
						}
					}
					log.add(Times{intended, begun, ended}, row.count, failure)
					want[worker] = append(want[worker], row)
				}
				log.flush()
			}()
		}
		done.Wait()
		if _, err := os.Stat(path); err == nil {
			t.Error("the file has its name before it is whole")
		}
		if _, err := file.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := file.Close(); err != nil {
			t.Errorf("closed again: %v", err)
		}
		got := make([][]kept, len(sizes))
		for _, row := range read(t, path) {
			got[row.worker] = append(got[row.worker], row)
		}
		for worker := range sizes {
			if len(got[worker]) != len(want[worker]) {
				t.Fatalf("worker %d has %d records, want %d", worker, len(got[worker]), len(want[worker]))
			}
			for i, row := range got[worker] {
				if row != want[worker][i] {
					t.Fatalf("record %d of worker %d is %+v, want %+v", i, worker, row, want[worker][i])
				}
			}
		}
	}
}

func TestAFileThatCannotBeWrittenStopsNoWorker(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("needs /dev/full")
	}
	path := filepath.Join(t.TempDir(), "write.parquet")
	if err := os.Symlink("/dev/full", path+".part"); err != nil {
		t.Fatal(err)
	}
	file, err := CreateOperations(path)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	file.begin(now)
	log := file.logs("write", 1)[0]
	for range 300_000 {
		log.add(Times{now, now, now}, 1, nil)
	}
	log.flush()
	if _, err := file.Close(); err == nil || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("the failure is %v", err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("there is a file that is not whole")
	}
}

func TestNoFileKeepsNothing(t *testing.T) {
	var log *operationLog
	log.add(Times{}, 1, nil)
	log.flush()
	var file *Operations
	if waited, err := file.Close(); waited != 0 || err != nil {
		t.Errorf("it is %v, %v", waited, err)
	}
}

// BenchmarkAdd is one record, on the hot path of a worker.
func BenchmarkAdd(b *testing.B) {
	file, err := CreateOperations(filepath.Join(b.TempDir(), "x.parquet"))
	if err != nil {
		b.Fatal(err)
	}
	now := time.Now()
	file.begin(now)
	log := file.logs("query", 1)[0]
	b.ReportAllocs()
	for b.Loop() {
		log.add(Times{now, now, now}, 1, nil)
	}
	log.flush()
	if _, err := file.Close(); err != nil {
		b.Fatal(err)
	}
}
