package cassandra

import (
	"context"
	"sync"
	"time"

	"github.com/gocql/gocql"

	"benchbook/benchload/dataset"
	"benchbook/benchload/format"
	"benchbook/benchload/system"
	"benchbook/benchload/target"
)

// batchRows is how many rows one request of the protocol carries. The server
// refuses batches of more than 50 KiB; rows of the widest table have less than 0.8.
const batchRows = 50

// inFlight is how many requests of one client are on their way at once.
const inFlight = 8

// client sends batches and asks. It belongs to one goroutine.
type client struct {
	target  *Cassandra
	cursor  *format.Cursor
	insert  []string
	ctx     context.Context
	end     context.CancelFunc
	slots   chan struct{}
	lock    sync.Mutex
	failure *system.Failure
}

// Connect creates a client.
func (t *Cassandra) Connect() (target.Conn, error) {
	c := &client{target: t, slots: make(chan struct{}, inFlight)}
	c.ctx, c.end = context.WithCancel(context.Background())
	if t.rows != nil {
		c.cursor = t.rows.Cursor()
		for i := range t.tables {
			c.insert = append(c.insert, t.insert(&t.tables[i]))
		}
	}
	return c, nil
}

// Write sends the rows of a batch and waits until all are acknowledged.
func (c *client) Write(batch target.Batch) error {
	session, err := c.target.open()
	if err != nil {
		return err
	}
	c.failure = nil
	var sent sync.WaitGroup
	made := session.NewBatch(gocql.UnloggedBatch).WithContext(c.ctx)
	c.cursor.Reset(batch.Bytes)
	for c.cursor.Next() {
		made.Query(c.insert[c.cursor.TableNumber()], values(c.cursor)...)
		if made.Size() == batchRows {
			c.send(session, made, &sent)
			made = session.NewBatch(gocql.UnloggedBatch).WithContext(c.ctx)
		}
	}
	if made.Size() > 0 {
		c.send(session, made, &sent)
	}
	sent.Wait()
	if c.failure != nil {
		c.failure.Refused = min(c.failure.Refused, batch.Rows)
		return c.failure
	}
	return nil
}

// send sends one request as soon as few enough are on their way. Writing a row
// twice is writing it once, so a batch that failed in part may be sent again.
func (c *client) send(session *gocql.Session, batch *gocql.Batch, sent *sync.WaitGroup) {
	c.slots <- struct{}{}
	sent.Add(1)
	go func() {
		defer sent.Done()
		defer func() { <-c.slots }()
		if err := session.ExecuteBatch(batch); err != nil {
			failure := failureOf(err)
			c.lock.Lock()
			defer c.lock.Unlock()
			failure.Refused = int64(batch.Size())
			if c.failure != nil {
				failure.Refused += c.failure.Refused
			}
			c.failure = failure
		}
	}()
}

// values are those of a row, in the order of its statement. The driver keeps them
// until the request is sent, so they are copies.
func values(cursor *format.Cursor) []any {
	table := cursor.Table()
	made := make([]any, 0, 1+len(table.Tags)+len(table.Fields))
	made = append(made, time.Unix(0, cursor.Time()))
	for tag := range table.Tags {
		if text, ok := cursor.Tag(tag); ok {
			made = append(made, string(text))
		} else {
			made = append(made, gocql.UnsetValue)
		}
	}
	for field := range table.Fields {
		made = append(made, value(cursor, table, field))
	}
	return made
}

// value is one field of a row.
func value(cursor *format.Cursor, table *dataset.Table, field int) any {
	if table.Fields[field].Kind == dataset.Integer {
		if number, ok := cursor.Integer(field); ok {
			return number
		}
	} else if number, ok := cursor.Float(field); ok {
		return number
	}
	return gocql.UnsetValue
}

// Interrupt ends a waiting operation and all later ones.
func (c *client) Interrupt() { c.end() }

// Close gives up what is on its way; the connections are the target's.
func (c *client) Close() { c.end() }
