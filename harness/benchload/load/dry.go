package load

import (
	"time"

	"benchbook/benchload/dataset"
	"benchbook/benchload/format"
	"benchbook/benchload/target"
	"benchbook/benchload/target/null"
)

// Dry is a target without a server: it takes batches of bytes as they are and reads
// typed rows value by value. It shows how fast the client alone would feed the target.
type Dry struct {
	target.Target
	rows *format.Rows // nil where batches are bytes
}

// NewDry replaces a target.
func NewDry(t target.Target) *Dry { return &Dry{Target: t} }

// Holds is always false.
func (d *Dry) Holds() (bool, error) { return false, nil }

// Format returns that of the target; line protocol by default.
func (d *Dry) Format(generator dataset.Generator) (format.Format, error) {
	shaped, ok := d.Target.(target.Shaped)
	if !ok {
		return format.NewInflux(generator), nil
	}
	made, err := shaped.Format(generator)
	d.rows, _ = made.(*format.Rows)
	return made, err
}

// Prepare does nothing.
func (d *Dry) Prepare() error { return nil }

// Connect creates a client.
func (d *Dry) Connect() (target.Conn, error) {
	conn, err := null.Null{}.Connect()
	if err != nil || d.rows == nil {
		return conn, err
	}
	return &reader{Conn: conn, cursor: d.rows.Cursor()}, nil
}

// reader reads typed rows.
type reader struct {
	target.Conn
	cursor *format.Cursor
	sum    float64 // keeps the compiler from leaving a value out
}

// Write reads every tag and value of a batch.
func (r *reader) Write(batch target.Batch) error {
	r.cursor.Reset(batch.Bytes)
	for r.cursor.Next() {
		table := r.cursor.Table()
		for tag := range table.Tags {
			text, _ := r.cursor.Tag(tag)
			r.sum += float64(len(text))
		}
		for field := range table.Fields {
			value, _ := r.cursor.Float(field)
			r.sum += value
		}
	}
	return nil
}

// Query returns an empty answer.
func (r *reader) Query([]byte) (target.Answer, error) { return target.Answer{Done: time.Now()}, nil }
