// Package null is a target that discards everything in the client's own process: it
// shows how fast the client alone is.
package null

import (
	"time"

	"benchbook/benchload/query/spec"
	"benchbook/benchload/target"
)

// Null is the target.
type Null struct{}

// Name returns the name of this kind of target.
func (Null) Name() string { return "null" }

// Holds is always false.
func (Null) Holds() (bool, error) { return false, nil }

// Text is empty.
func (Null) Text(spec.Query) ([]byte, error) { return nil, nil }

// Rows are none.
func (Null) Rows(spec.Query, []byte) ([]target.Row, error) { return nil, nil }

// Connect creates a client.
func (Null) Connect() (target.Conn, error) { return client{}, nil }

type client struct{}

func (client) Write(target.Batch) error { return nil }

func (client) Query([]byte) (target.Answer, error) { return target.Answer{Done: time.Now()}, nil }

func (client) Interrupt() {}

func (client) Close() {}
