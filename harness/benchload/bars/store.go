package bars

// Answer is what a read gave. A client fills one again and again.
type Answer struct {
	Bars  []Bar
	Rows  int64 // of the answer, also where it was not decoded
	Bytes int64 // of the answer's values
}

// Reset empties it, keeping its memory.
func (a *Answer) Reset() { a.Bars, a.Rows, a.Bytes = a.Bars[:0], 0, 0 }

// Client is one connection. It belongs to one goroutine. What goes wrong is a
// *target.Failure where the system says why.
type Client interface {
	// Write stores whole days of one stock and waits until they are acknowledged.
	Write(bars []Bar) error
	// Read reads a range. With decode the answer holds the bars; without, what
	// came is only counted, as the published reader of the key-value store did.
	Read(request *Request, decode bool, answer *Answer) error
	// Interrupt ends a waiting operation and all later ones; any goroutine may call it.
	Interrupt()
	// Close hangs up.
	Close()
}

// Store is a system that bars are loaded into and read from.
type Store interface {
	// Name is the name of the kind of system.
	Name() string
	// Prepare makes the table; an error where it holds data already.
	Prepare() error
	// Client makes a client.
	Client() Client
}
