// Package operation keeps every operation as a record of its own, in a Parquet
// file. Workers fill blocks of records that were made beforehand; a goroutine of
// its own writes them, so that nothing is allocated or written while a server is
// waited for.
package operation

import (
	"time"

	"benchbook/benchload/target"
)

// record is one operation. Times are nanoseconds since the origin of its file.
type record struct {
	intended, start, end int64
	rows                 int64
	status               uint8 // its place among statuses
}

// statuses are what became of an operation: it succeeded, or how it failed.
var statuses = [...]string{
	"ok", string(target.Refused), string(target.Timeout), string(target.Connection), string(target.Server),
	string(target.BadAnswer), string(target.NotEmpty), "other",
}

// statusOf is the place of a status.
func statusOf(failure *target.Failure) uint8 {
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

// blockRecords is how many records a worker fills before it hands them over.
const blockRecords = 256

// block is memory for records, of one kind of operation by one worker.
type block struct {
	records   [blockRecords]record
	count     int
	operation string
	worker    int64
}

// Log takes the operations of one kind by one worker. It belongs to one goroutine.
type Log struct {
	file      *File
	block     *block
	operation string
	worker    int64
}

// Add keeps one operation; failure is nil if it succeeded. A nil log keeps nothing.
func (l *Log) Add(intended, begun, ended time.Time, rows int64, failure *target.Failure) {
	if l == nil {
		return
	}
	if l.block == nil {
		l.block = l.file.take()
		l.block.operation, l.block.worker = l.operation, l.worker
	}
	b := l.block
	start := int64(begun.Sub(l.file.origin))
	b.records[b.count] = record{
		intended: start - int64(begun.Sub(intended)), start: start, end: start + int64(ended.Sub(begun)),
		rows: rows, status: statusOf(failure),
	}
	if b.count++; b.count == blockRecords {
		l.Flush()
	}
}

// Flush hands over what was kept so far.
func (l *Log) Flush() {
	if l == nil || l.block == nil {
		return
	}
	l.file.full <- l.block
	l.block = nil
}
