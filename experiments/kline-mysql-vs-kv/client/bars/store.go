package bars

import "benchbook/benchload/system"

// Answer is what a read returned. A client fills the same one again and again.
type Answer struct {
	Bars  []Bar
	Rows  int64 // of the answer, also where it was not decoded
	Bytes int64 // of the answer's values
}

// Reset empties the answer and keeps its memory.
func (a *Answer) Reset() { a.Bars, a.Rows, a.Bytes = a.Bars[:0], 0, 0 }

// Conn is one connection to a store.
type Conn interface {
	system.Conn
	// Write stores whole days of one stock and waits until they are acknowledged.
	Write(bars []Bar) error
	// Read reads a range. With decode the answer holds the bars; without, the client
	// only counts what it received, as the published reader of the key-value store did.
	Read(request *Request, decode bool, answer *Answer) error
}

// Store is a system that bars are loaded into and read from.
type Store interface {
	system.System[Conn]
	// Prepare creates the table; an error if it holds data already.
	Prepare() error
}
