package measure

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/apache/arrow-go/v18/parquet"

	"benchbook/benchload/system"
)

// record is one operation. Times are nanoseconds since the origin of its file.
type record struct {
	intended, start, end int64
	rows                 int64
	status               uint8 // index into statuses
}

// statuses are the outcomes of an operation: success, or the kind of its failure.
var statuses = [...]string{
	"ok", string(system.Refused), string(system.Timeout), string(system.Connection), string(system.Server),
	string(system.BadAnswer), string(system.NotEmpty), "other",
}

// statusTexts are the statuses as a file takes them.
var statusTexts = func() (texts [len(statuses)]parquet.ByteArray) {
	for i, status := range statuses {
		texts[i] = parquet.ByteArray(status)
	}
	return texts
}()

// statusOf returns the index of the status of an operation.
func statusOf(failure *system.Failure) uint8 {
	if failure == nil {
		return 0
	}
	for i := 1; i < len(statuses)-1; i++ {
		if statuses[i] == string(failure.Kind) {
			return uint8(i)
		}
	}
	return uint8(len(statuses) - 1)
}

const (
	// blockRecords is how many records a worker collects before it hands them over.
	blockRecords = 256
	// spareBlocks are filled while a row group is written: at 100,000 operations per
	// second they last for more than half a second.
	spareBlocks = 256
	// mostBlocks is more than ever exist, so that handing one over never waits.
	mostBlocks = 1 << 16
)

// block is memory for records of one kind of operation by one worker.
type block struct {
	records   [blockRecords]record
	count     int
	operation string
	worker    int64
}

// Operations is a Parquet file with one record per operation. Workers fill blocks
// of records that are allocated beforehand and a separate goroutine writes them, so
// that no worker allocates or writes while it waits for a server.
type Operations struct {
	path    string
	origin  time.Time
	began   bool
	full    chan *block
	free    chan *block
	waited  atomic.Int64 // ns that workers waited for a free block
	table   *operationTable
	written chan error
	closing sync.Once
	failure error
}

// CreateOperations begins a file. Until it is complete its name ends in ".part",
// which is all that a killed program leaves behind.
func CreateOperations(path string) (*Operations, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	table, err := newOperationTable(path + ".part")
	if err != nil {
		return nil, err
	}
	o := &Operations{
		path: path, table: table, full: make(chan *block, mostBlocks), free: make(chan *block, mostBlocks), written: make(chan error, 1),
	}
	o.addBlocks(spareBlocks)
	go o.write()
	return o, nil
}

// begin sets the origin of all times. Only the first call counts: a warm-up and the
// timed region after it share one clock.
func (o *Operations) begin(at time.Time) {
	if !o.began {
		o.origin, o.began = at, true
	}
}

// logs returns a log for each worker.
func (o *Operations) logs(operation string, workers int) []*operationLog {
	o.addBlocks(workers)
	logs := make([]*operationLog, workers)
	for i := range logs {
		logs[i] = &operationLog{file: o, worker: int64(i), operation: operation}
	}
	return logs
}

// addBlocks allocates free blocks.
func (o *Operations) addBlocks(count int) {
	blocks := make([]block, count)
	for i := range blocks {
		o.free <- &blocks[i]
	}
}

// take returns a free block. It counts the time that a worker waits for one: the
// next operation starts later by as much.
func (o *Operations) take() *block {
	select {
	case b := <-o.free:
		return b
	default:
	}
	waiting := time.Now()
	b := <-o.free
	o.waited.Add(int64(time.Since(waiting)))
	return b
}

// write adds blocks to the table until there are no more. After a failure it still
// frees blocks, so that no worker waits forever.
func (o *Operations) write() {
	var failure error
	for b := range o.full {
		if failure == nil {
			failure = o.table.add(b)
		}
		b.count = 0
		o.free <- b
	}
	o.written <- errors.Join(failure, o.table.close())
}

// Close completes the file and returns how long workers waited for it. All runs have
// to be stopped before. A nil file is valid and holds nothing.
func (o *Operations) Close() (waited time.Duration, err error) {
	if o == nil {
		return 0, nil
	}
	o.closing.Do(func() {
		close(o.full)
		if o.failure = <-o.written; o.failure == nil {
			o.failure = os.Rename(o.path+".part", o.path)
		}
		if o.failure != nil {
			o.failure = fmt.Errorf("cannot write the single operations: %w", o.failure)
			_ = os.Remove(o.path + ".part")
		}
	})
	return time.Duration(o.waited.Load()), o.failure
}

// operationLog takes the operations of one kind by one worker. It belongs to one goroutine.
type operationLog struct {
	file      *Operations
	block     *block
	operation string
	worker    int64
}

// add records one operation; failure is nil if it succeeded. A nil log records nothing.
func (l *operationLog) add(at Times, rows int64, failure *system.Failure) {
	if l == nil {
		return
	}
	if l.block == nil {
		l.block = l.file.take()
		l.block.operation, l.block.worker = l.operation, l.worker
	}
	b := l.block
	start := int64(at.Begun.Sub(l.file.origin))
	b.records[b.count] = record{
		intended: start - int64(at.Begun.Sub(at.Intended)), start: start, end: start + int64(at.Ended.Sub(at.Begun)),
		rows: rows, status: statusOf(failure),
	}
	if b.count++; b.count == blockRecords {
		l.flush()
	}
}

// flush hands the records over to the file.
func (l *operationLog) flush() {
	if l == nil || l.block == nil {
		return
	}
	l.file.full <- l.block
	l.block = nil
}
