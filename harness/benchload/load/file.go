package load

import (
	"bytes"
	"fmt"
	"os"
	"sync"
	"syscall"
)

// File is a source that cuts a file of line protocol into batches. The file is
// mapped into memory, so batches are parts of it and nothing is copied.
type File struct {
	lock  sync.Mutex
	data  []byte
	at    int
	size  int64 // rows of a batch
	ended bool
}

// NewFile maps a file.
func NewFile(path string, batchRows int64) (*File, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("--file cannot be opened: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("--file cannot be read: %w", err)
	}
	if !info.Mode().IsRegular() || info.Size() == 0 {
		return nil, fmt.Errorf("--file %s is empty or not a regular file; give one with rows in line protocol", path)
	}
	data, err := syscall.Mmap(int(file.Fd()), 0, int(info.Size()), syscall.PROT_READ, syscall.MAP_SHARED|syscall.MAP_POPULATE)
	if err != nil {
		return nil, fmt.Errorf("--file %s cannot be mapped: %w", path, err)
	}
	return &File{data: data, size: batchRows}, nil
}

// Next cuts the next batch. The lock covers only the search for line ends.
func (f *File) Next() (Batch, bool) {
	f.lock.Lock()
	defer f.lock.Unlock()
	if f.ended || f.at == len(f.data) {
		return Batch{}, false
	}
	rest := f.data[f.at:]
	end, rows := 0, int64(0)
	for rows < f.size && end < len(rest) {
		line := bytes.IndexByte(rest[end:], '\n')
		if line < 0 {
			line = len(rest) - end - 1
		}
		end += line + 1
		rows++
	}
	f.at += end
	return Batch{Rows: rows, Size: int64(end), Bytes: rest[:end]}, true
}

// Release does nothing: no memory is allocated.
func (f *File) Release(Batch) {}

// Rows returns zero: the number is unknown before the file is read.
func (f *File) Rows() int64 { return 0 }

// Stop ends the source.
func (f *File) Stop() {
	f.lock.Lock()
	f.ended = true
	f.lock.Unlock()
}
