package system

import (
	"errors"

	"benchbook/benchload/event"
)

// FailureKind is the reason of a failure.
type FailureKind string

// The kinds of failures.
const (
	Refused    FailureKind = "refused"    // the server says that the request is wrong
	Timeout    FailureKind = "timeout"    // no complete answer in time
	Connection FailureKind = "connection" // the server cannot be reached, or hung up
	Server     FailureKind = "server"     // the server says that it cannot do it now
	BadAnswer  FailureKind = "answer"     // success by the status, failure by the body
	NotEmpty   FailureKind = "not-empty"  // the database holds data already
)

// Failure is why an operation failed, with the server's message.
type Failure struct {
	Kind    FailureKind
	Status  int // of HTTP; zero if there was none
	Message string
	Refused int64 // rows of the batch that were not taken
	Cause   error // of a client library, if any
}

// Error returns the message.
func (f *Failure) Error() string { return f.Message }

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Cause }

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
