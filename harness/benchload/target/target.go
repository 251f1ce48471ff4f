// Package target defines what a system under test is to a client: something that
// takes batches of rows and answers queries. Each kind of system has its own package.
package target

import (
	"errors"
	"time"

	"benchbook/benchload/dataset"
	"benchbook/benchload/event"
	"benchbook/benchload/format"
	"benchbook/benchload/query/spec"
)

// Kind is the reason of a failure.
type Kind string

// The kinds of failures.
const (
	Refused    Kind = "refused"    // the server says that the request is wrong
	Timeout    Kind = "timeout"    // no complete answer in time
	Connection Kind = "connection" // the server cannot be reached, or hung up
	Server     Kind = "server"     // the server says that it cannot do it now
	BadAnswer  Kind = "answer"     // success by the status, failure by the body
	NotEmpty   Kind = "not-empty"  // the database holds data already
)

// Failure is why an operation failed, with the server's message.
type Failure struct {
	Kind    Kind
	Status  int // of HTTP; zero if there was none
	Message string
	Refused int64 // rows of the batch that were not taken
}

// Error returns the message.
func (f *Failure) Error() string { return f.Message }

// Event returns the event about one operation that failed.
func (f *Failure) Event() event.Error {
	return event.Error{Kind: string(f.Kind), Status: f.Status, Message: f.Message, Operations: 1}
}

// AsFailure returns the failure in an error; any other error is one of the
// connection. It returns nil for no error.
func AsFailure(err error) *Failure {
	if err == nil {
		return nil
	}
	var failure *Failure // after the check, as it is allocated here
	if errors.As(err, &failure) {
		return failure
	}
	return &Failure{Kind: Connection, Message: err.Error()}
}

// Batch is the rows of one write, in the format that the target takes.
type Batch struct {
	Rows  int64
	Bytes []byte // as they are sent, possibly compressed
	Gzip  bool
}

// Answer is the answer to a query.
type Answer struct {
	Body  []byte    // valid until the next operation of the client
	Bytes int64     // of the body
	Rows  int64     // of the answer, where the client counts them
	Done  time.Time // when its last byte was read
}

// Row is one row of an answer: the start of a bucket, the host if the query groups by
// it, and the value.
type Row struct {
	TimeNS int64
	Host   string
	Value  float64
}

// Conn is what all clients have in common: those of rows and queries, of objects
// and of bars. A client belongs to one goroutine, and its failures are a *Failure.
type Conn interface {
	// Interrupt ends a waiting operation and all later ones; any goroutine may call it.
	Interrupt()
	// Close closes the connection.
	Close()
}

// Client is one connection to a target.
type Client interface {
	Conn
	// Write sends a batch and waits until it is acknowledged.
	Write(batch Batch) error
	// Query sends a query and reads the whole answer. A failure in it is a failure of the query.
	Query(text []byte) (Answer, error)
}

// Target is a system under test.
type Target interface {
	// Name returns the name of the kind of target.
	Name() string
	// Holds reports whether the database holds data already. It may create the database.
	Holds() (bool, error)
	// Text turns a query into what a client sends; rows asks for an answer that
	// Rows can read.
	Text(query spec.Query, rows bool) ([]byte, error)
	// Rows reads the rows out of the body of an answer.
	Rows(query spec.Query, body []byte) ([]Row, error)
	// Client creates a client.
	Client() Client
}

// Shaped is a target that does not take line protocol. Its batches have another
// format: text such as the body of a bulk request, or format.Rows for clients that bind
// typed values, which read a batch with a format.Cursor.
type Shaped interface {
	Target
	// Format returns the format of the batches of a dataset. It uses no connection.
	Format(generator dataset.Generator) (format.Format, error)
	// Prepare creates what the first row needs, such as tables; what exists already
	// stays. It is called after Format and before the first client is created.
	Prepare() error
}

// Count is how much of a table a system holds.
type Count struct {
	Rows   int64            `json:"rows"`
	Values map[string]int64 `json:"fields"` // present values of each field
}

// Inspected is a target that reports what the server is and holds, for systems that
// only a client library can ask.
type Inspected interface {
	Target
	// Version returns the version that the server reports.
	Version() (string, error)
	// Count counts every table of the database by reading its rows from the server.
	Count() (map[string]Count, error)
}
