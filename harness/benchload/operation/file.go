package operation

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// spareBlocks are filled while a row group is written: at 100,000 operations a
	// second they last for more than half a second.
	spareBlocks = 256
	// mostBlocks is more than there ever are, so that handing one over never waits.
	mostBlocks = 1 << 16
)

// File is the file that the operations of all workers go to.
type File struct {
	path    string
	origin  time.Time
	began   bool
	full    chan *block
	free    chan *block
	waited  atomic.Int64 // ns that workers waited for a free block
	table   *table
	written chan error
	closing sync.Once
	failure error
}

// Create begins a file. It has its name when it is whole; until then ".part" is
// added, which is all that a killed program leaves.
func Create(path string) (*File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	made, err := newTable(part(path))
	if err != nil {
		return nil, err
	}
	f := &File{path: path, table: made, full: make(chan *block, mostBlocks), free: make(chan *block, mostBlocks), written: make(chan error, 1)}
	f.add(spareBlocks)
	go f.write()
	return f, nil
}

// Numbered is the path of the file of one of several clients: load.parquet
// becomes load~1.parquet.
func Numbered(path string, client int) string {
	extension := filepath.Ext(path)
	return strings.TrimSuffix(path, extension) + "~" + strconv.Itoa(client) + extension
}

func part(path string) string { return path + ".part" }

// Begin sets the origin of all times. Only the first call counts: the operations
// of a warm-up, or of a mix, have one clock.
func (f *File) Begin(at time.Time) {
	if !f.began {
		f.origin, f.began = at, true
	}
}

// Logs makes a log for each of so many workers.
func (f *File) Logs(operation string, workers int) []*Log {
	f.add(workers)
	logs := make([]*Log, workers)
	for i := range logs {
		logs[i] = &Log{file: f, worker: int64(i), operation: operation}
	}
	return logs
}

// add makes free blocks.
func (f *File) add(count int) {
	blocks := make([]block, count)
	for i := range blocks {
		f.free <- &blocks[i]
	}
}

// take gives a free block. That workers had to wait for one is told: their
// operations came later than they would have.
func (f *File) take() *block {
	select {
	case b := <-f.free:
		return b
	default:
	}
	waiting := time.Now()
	b := <-f.free
	f.waited.Add(int64(time.Since(waiting)))
	return b
}

// write puts blocks into the table until there are no more. After a failure
// it goes on to give blocks back, so that no worker waits for ever.
func (f *File) write() {
	var failure error
	for b := range f.full {
		if failure == nil {
			failure = f.table.add(b)
		}
		b.count = 0
		f.free <- b
	}
	f.written <- errors.Join(failure, f.table.close())
}

// Close writes the rest, gives the file its name, and tells how long workers
// waited for the file. All logs have to be flushed before. A nil file is none.
func (f *File) Close() (waited time.Duration, err error) {
	if f == nil {
		return 0, nil
	}
	f.closing.Do(func() {
		close(f.full)
		if f.failure = <-f.written; f.failure == nil {
			f.failure = os.Rename(part(f.path), f.path)
		}
		if f.failure != nil {
			f.failure = fmt.Errorf("the operations could not be written: %w", f.failure)
			_ = os.Remove(part(f.path))
		}
	})
	return time.Duration(f.waited.Load()), f.failure
}
