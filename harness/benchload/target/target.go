// Package target says what a system under test is to a client: something that
// takes batches of rows and answers queries. Each kind has a package of its own.
package target

import (
	"errors"
	"time"

	"benchbook/benchload/query/spec"
)

// Kind says why an operation failed.
type Kind string

// The kinds of failures.
const (
	Refused    Kind = "refused"    // the server says that the request is wrong
	Timeout    Kind = "timeout"    // no whole answer in time
	Connection Kind = "connection" // the server cannot be reached, or hung up
	Server     Kind = "server"     // the server says that it cannot do it now
	BadAnswer  Kind = "answer"     // success by its status, failure by its body
	NotEmpty   Kind = "not-empty"  // the database holds data already
)

// Failure is an operation that failed, in the server's own words.
type Failure struct {
	Kind    Kind
	Status  int // of HTTP; zero if there was none
	Message string
	Refused int64 // rows of the batch that were not taken
}

// Error is the message.
func (f *Failure) Error() string { return f.Message }

// AsFailure gives the failure that an error is; nil for none.
func AsFailure(err error) *Failure {
	var failure *Failure
	if err == nil {
		return nil
	}
	if errors.As(err, &failure) {
		return failure
	}
	return &Failure{Kind: Connection, Message: err.Error()}
}

// Batch is rows in line protocol.
type Batch struct {
	Rows  int64
	Bytes []byte // as they are sent, possibly compressed
	Gzip  bool
}

// Answer is what a query gave.
type Answer struct {
	Body  []byte    // valid until the next operation of the client
	Bytes int64     // of the body
	Rows  int64     // of the answer, where the client counts them
	Done  time.Time // when its last byte was read
}

// Row is one row of an answer: the start of a bucket, the host if the query
// groups by it, and the value.
type Row struct {
	TimeNS int64
	Host   string
	Value  float64
}

// Client is one connection to a target. It belongs to one goroutine.
type Client interface {
	// Write sends a batch and waits until it is acknowledged; else a *Failure.
	Write(batch Batch) error
	// Query asks and reads the whole answer. A failure in it is a *Failure.
	Query(text []byte) (Answer, error)
	// Interrupt ends a waiting operation and all later ones; any goroutine may call it.
	Interrupt()
	// Close hangs up.
	Close()
}

// Target is a system under test.
type Target interface {
	// Name is the name of the kind of target.
	Name() string
	// Holds tells if the database holds data already. It may make the database.
	Holds() (bool, error)
	// Text turns a query into what a client sends; rows asks for an answer that
	// Rows can read.
	Text(query spec.Query, rows bool) ([]byte, error)
	// Rows reads the rows out of the body of an answer.
	Rows(query spec.Query, body []byte) ([]Row, error)
	// Client makes a client.
	Client() Client
}
