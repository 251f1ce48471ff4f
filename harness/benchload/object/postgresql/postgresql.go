// Package postgresql keeps objects as rows of a table: the key, and the bytes as bytea.
package postgresql

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"benchbook/benchload/object"
	"benchbook/benchload/target"
)

const (
	create = "CREATE TABLE IF NOT EXISTS objects (key text PRIMARY KEY, content bytea NOT NULL)"
	insert = "INSERT INTO objects (key, content) VALUES ($1, $2)"
	read   = "SELECT content FROM objects WHERE key = $1"
	remove = "DELETE FROM objects WHERE key = $1"
)

// Store is a database. The password is taken from PGPASSWORD.
type Store struct {
	Config  *pgx.ConnConfig
	Timeout time.Duration
}

// New creates the store of an address such as postgres://user@host:port.
func New(url, database string, limit time.Duration) (*Store, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	config.Database = database
	config.ConnectTimeout = limit
	return &Store{config, limit}, nil
}

// Name returns the name of the kind of store.
func (s *Store) Name() string { return "postgresql" }

// Prepare creates the table.
func (s *Store) Prepare() error {
	made, err := s.Client()
	if err != nil {
		return err
	}
	defer made.Close()
	c := made.(*client)
	_, err = c.conn.Exec(c.ctx, create)
	return c.failure(err)
}

// Client opens a connection.
func (s *Store) Client() (object.Client, error) {
	ctx, cancel := context.WithCancel(context.Background())
	conn, err := pgx.ConnectConfig(ctx, s.Config.Copy())
	if err != nil {
		cancel()
		return nil, err
	}
	return &client{conn: conn, ctx: ctx, cancel: cancel, limit: s.Timeout}, nil
}

// client is one connection. pgx prepares each of the statements once.
type client struct {
	conn   *pgx.Conn
	ctx    context.Context
	cancel func()
	limit  time.Duration
}

// Put inserts the objects in one transaction and one round trip.
func (c *client) Put(items []object.Item) error {
	ctx, cancel := context.WithTimeout(c.ctx, c.limit)
	defer cancel()
	if len(items) == 1 {
		_, err := c.conn.Exec(ctx, insert, items[0].Key, items[0].Content)
		return c.failure(err)
	}
	// Statements that are sent together without BEGIN form one transaction.
	var batch pgx.Batch
	for i := range items {
		batch.Queue(insert, items[i].Key, items[i].Content)
	}
	return c.failure(c.conn.SendBatch(ctx, &batch).Close())
}

// Get selects one object.
func (c *client) Get(item *object.Item, into []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(c.ctx, c.limit)
	defer cancel()
	// The driver's bytes are valid until the row is closed, so they are copied once.
	rows, err := c.conn.Query(ctx, read, item.Key)
	if err != nil {
		return nil, c.failure(err)
	}
	found := false
	for rows.Next() {
		found = true
		into = append(into[:0], rows.RawValues()[0]...)
	}
	if err := rows.Err(); err != nil {
		return nil, c.failure(err)
	}
	if !found {
		return nil, object.ErrMissing
	}
	return into, nil
}

// Delete deletes the row.
func (c *client) Delete(item *object.Item) error {
	ctx, cancel := context.WithTimeout(c.ctx, c.limit)
	defer cancel()
	done, err := c.conn.Exec(ctx, remove, item.Key)
	if err == nil && done.RowsAffected() == 0 {
		return object.ErrMissing
	}
	return c.failure(err)
}

// failure converts an error to a failure.
func (c *client) failure(err error) error {
	var failed *pgconn.PgError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &failed):
		return &target.Failure{Kind: target.Refused, Message: failed.Message + " (" + failed.Code + ")"}
	case errors.Is(err, context.DeadlineExceeded):
		return &target.Failure{Kind: target.Timeout, Message: "no answer within " + c.limit.String()}
	}
	return &target.Failure{Kind: target.Connection, Message: err.Error()}
}

// Interrupt ends a waiting operation.
func (c *client) Interrupt() { c.cancel() }

// Close closes the connection.
func (c *client) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = c.conn.Close(ctx)
	c.cancel()
}
