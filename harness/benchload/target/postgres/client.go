package postgres

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"time"

	"benchbook/benchload/dataset"
	"benchbook/benchload/format"
	"benchbook/benchload/postgres"
	"benchbook/benchload/system"
	"benchbook/benchload/target"
	"benchbook/benchload/target/tabular"
)

// client is one connection. It belongs to one goroutine.
type client struct {
	*postgres.Conn
	cursor *format.Cursor
	copies []string // the statement for each table
	body   []byte   // of a COPY
	answer []byte
}

// Connect creates a client, which connects at its first operation.
func (t *Postgres) Connect() (target.Conn, error) {
	c := &client{Conn: t.server.Connect()}
	if t.rows != nil {
		c.cursor = t.rows.Cursor()
		for i := range t.tables {
			c.copies = append(c.copies, "COPY "+postgres.Quote(t.tables[i].Name)+" FROM STDIN (FORMAT binary)")
		}
	}
	return c, nil
}

// Write sends a batch in one transaction: a COPY for each table that it has rows of.
func (c *client) Write(batch target.Batch) error {
	ctx, cancel, err := c.Open()
	if err != nil {
		return err
	}
	defer cancel()
	return postgres.Failed(c.write(ctx, batch))
}

func (c *client) write(ctx context.Context, batch target.Batch) error {
	if _, err := c.DB.Exec(ctx, "BEGIN"); err != nil {
		return err
	}
	c.cursor.Reset(batch.Bytes)
	for table := range c.copies {
		c.cursor.Only(table)
		c.body = append(c.body[:0], header...)
		for c.cursor.Next() {
			c.body = appendTuple(c.body, c.cursor)
		}
		if len(c.body) == len(header) {
			continue
		}
		c.body = append(c.body, 0xff, 0xff)
		if _, err := c.DB.PgConn().CopyFrom(ctx, bytes.NewReader(c.body), c.copies[table]); err != nil {
			// The rest of the transaction is useless, whatever this returns.
			_, _ = c.DB.Exec(ctx, "ROLLBACK")
			return err
		}
	}
	_, err := c.DB.Exec(ctx, "COMMIT")
	return err
}

// header is the signature, no flags, and no extension.
const header = "PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00"

// epoch is the nanoseconds from 1970 to 2000, where PostgreSQL begins to count.
const epoch = 946_684_800_000_000_000

// appendTuple appends a row as COPY takes it.
func appendTuple(body []byte, cursor *format.Cursor) []byte {
	table := cursor.Table()
	body = binary.BigEndian.AppendUint16(body, uint16(1+len(table.Tags)+len(table.Fields)))
	body = appendWord(body, uint64((cursor.Time()-epoch)/microsecond))
	for tag := range table.Tags {
		text, ok := cursor.Tag(tag)
		if !ok {
			body = binary.BigEndian.AppendUint32(body, math.MaxUint32)
			continue
		}
		body = append(binary.BigEndian.AppendUint32(body, uint32(len(text))), text...)
	}
	for field := range table.Fields {
		number, ok := cursor.Integer(field)
		word := uint64(number)
		if table.Fields[field].Kind != dataset.Integer {
			float, _ := cursor.Float(field)
			word = math.Float64bits(float)
		}
		if !ok {
			body = binary.BigEndian.AppendUint32(body, math.MaxUint32)
			continue
		}
		body = appendWord(body, word)
	}
	return body
}

// appendWord appends a column of eight bytes.
func appendWord(body []byte, word uint64) []byte {
	return binary.BigEndian.AppendUint64(append(body, 0, 0, 0, 8), word)
}

// Query sends a query and reads the whole answer.
func (c *client) Query(text []byte) (target.Answer, error) {
	ctx, cancel, err := c.Open()
	if err != nil {
		return target.Answer{}, err
	}
	defer cancel()
	found, err := c.DB.Query(ctx, string(text))
	if err != nil {
		return target.Answer{}, postgres.Failed(err)
	}
	defer found.Close()
	c.answer = c.answer[:0]
	var bucket time.Time
	var row target.Row
	for found.Next() {
		into := []any{&bucket, &row.Value}
		if len(found.FieldDescriptions()) == 3 {
			into = []any{&bucket, &row.Host, &row.Value}
		}
		if err := found.Scan(into...); err != nil {
			return target.Answer{}, &system.Failure{Kind: system.BadAnswer, Message: fmt.Sprintf("a row cannot be read: %v", err)}
		}
		row.TimeNS = bucket.UnixNano()
		c.answer = tabular.Append(c.answer, row)
	}
	if err := found.Err(); err != nil {
		return target.Answer{}, postgres.Failed(err)
	}
	return target.Answer{Body: c.answer, Bytes: int64(len(c.answer)), Done: time.Now()}, nil
}

// quoted is a list of texts.
func quoted(texts []string) string {
	return "'" + strings.Join(texts, "', '") + "'"
}
