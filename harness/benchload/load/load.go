// Package load sends the rows of a dataset to a target in batches.
package load

import (
	"benchbook/benchload/drive"
	"benchbook/benchload/measure"
	"benchbook/benchload/system"
	"benchbook/benchload/target"
)

// Batch is the rows of one write.
type Batch struct {
	Rows   int64
	Values int64
	Size   int64  // in bytes, before compression
	Bytes  []byte // as they are sent
	Gzip   bool   // whether they are compressed
	owner  any    // what the source takes back
}

// Source gives batches to many goroutines.
type Source interface {
	// Next waits for a batch; false at the end.
	Next() (Batch, bool)
	// Release returns the memory of a batch.
	Release(batch Batch)
	// Rows is how many there are; zero if that is unknown.
	Rows() int64
	// Stop makes Next give no more.
	Stop()
}

// Work is the load of a source into a target.
func Work(source Source, t target.Target, pace drive.Pace, rule drive.Rule) *drive.Work {
	return &drive.Work{
		Client: drive.Clients(t, func(conn target.Conn, _ int) drive.Client { return &client{Conn: conn, source: source} }),
		Stop:   source.Stop, Pace: pace, Rule: rule,
	}
}

// client sends batches over one connection.
type client struct {
	target.Conn
	source Source
	batch  Batch
}

// Next waits for a batch.
func (c *client) Next(int64) (more bool) {
	c.batch, more = c.source.Next()
	return more
}

// Do sends the batch.
func (c *client) Do() (drive.Result, error) {
	b := &c.batch
	counts := measure.Counts{Rows: b.Rows, Values: b.Values, Bytes: b.Size, WireBytes: int64(len(b.Bytes))}
	failure := system.AsFailure(c.Write(target.Batch{Rows: b.Rows, Bytes: b.Bytes, Gzip: b.Gzip}))
	if failure == nil {
		return drive.Result{Counts: counts}, nil
	}
	if failure.Refused == 0 {
		failure.Refused = b.Rows
	}
	return drive.Result{Counts: part(counts, b.Rows-failure.Refused)}, failure
}

// Ended returns the memory of the batch.
func (c *client) Ended(*system.Failure) { c.source.Release(c.batch) }

// part is the share of a batch whose other rows were refused.
func part(counts measure.Counts, rows int64) measure.Counts {
	if rows <= 0 {
		return measure.Counts{}
	}
	counts.Values = counts.Values * rows / counts.Rows
	counts.Bytes = counts.Bytes * rows / counts.Rows
	counts.Rows = rows
	return counts
}
