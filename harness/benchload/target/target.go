// Package target defines what a system under test is to a client: something that
// takes batches of rows and answers queries. Each kind of system has its own package.
package target

import (
	"time"

	"benchbook/benchload/dataset"
	"benchbook/benchload/format"
	"benchbook/benchload/query/spec"
	"benchbook/benchload/system"
)

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
	Done  time.Time // when its last byte was read
}

// Row is one row of an answer: the start of a bucket, the host if the query groups by
// it, and the value.
type Row struct {
	TimeNS int64
	Host   string
	Value  float64
}

// Conn is one connection to a target.
type Conn interface {
	system.Conn
	// Write sends a batch and waits until it is acknowledged.
	Write(batch Batch) error
	// Query sends a query and reads the whole answer. A failure in it is a failure of the query.
	Query(text []byte) (Answer, error)
}

// Target is a system under test.
type Target interface {
	system.System[Conn]
	// Holds reports whether the database holds data already. It may create the database.
	Holds() (bool, error)
	// Text turns a query into what a client sends.
	Text(query spec.Query) ([]byte, error)
	// Rows reads the rows out of the body of an answer.
	Rows(query spec.Query, body []byte) ([]Row, error)
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
