// Package postgresql keeps objects as rows of a table: the key, and the bytes as bytea.
package postgresql

import (
	"context"

	"github.com/jackc/pgx/v5"

	"benchbook/benchload/object"
	"benchbook/benchload/postgres"
	"benchbook/benchload/system"
)

const (
	create = "CREATE TABLE IF NOT EXISTS objects (key text PRIMARY KEY, content bytea NOT NULL)"
	insert = "INSERT INTO objects (key, content) VALUES ($1, $2)"
	read   = "SELECT content FROM objects WHERE key = $1"
	remove = "DELETE FROM objects WHERE key = $1"
)

// Store is a database. The password is taken from PGPASSWORD.
type Store struct{ server *postgres.Server }

// New creates the store at a place.
func New(at system.Place) (*Store, error) {
	server, err := postgres.New(at)
	return &Store{server}, err
}

// Name returns the name of the kind of store.
func (s *Store) Name() string { return "postgresql" }

// Prepare creates the table.
func (s *Store) Prepare() error {
	return s.server.Once(func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, create)
		return err
	})
}

// Connect opens a connection.
func (s *Store) Connect() (object.Conn, error) {
	c := &client{s.server.Connect()}
	_, done, err := c.Open()
	if err != nil {
		return nil, err
	}
	done()
	return c, nil
}

// client is one connection. pgx prepares each of the statements once.
type client struct{ *postgres.Conn }

// Put inserts the objects in one transaction and one round trip.
func (c *client) Put(items []object.Item) error {
	ctx, done, err := c.Open()
	if err != nil {
		return err
	}
	defer done()
	if len(items) == 1 {
		_, err := c.DB.Exec(ctx, insert, items[0].Key, items[0].Content)
		return postgres.Failed(err)
	}
	// Statements that are sent together without BEGIN form one transaction.
	var batch pgx.Batch
	for i := range items {
		batch.Queue(insert, items[i].Key, items[i].Content)
	}
	return postgres.Failed(c.DB.SendBatch(ctx, &batch).Close())
}

// Get selects one object.
func (c *client) Get(item *object.Item, into []byte) ([]byte, error) {
	ctx, done, err := c.Open()
	if err != nil {
		return nil, err
	}
	defer done()
	// The driver's bytes are valid until the row is closed, so they are copied once.
	rows, err := c.DB.Query(ctx, read, item.Key)
	if err != nil {
		return nil, postgres.Failed(err)
	}
	found := false
	for rows.Next() {
		found = true
		into = append(into[:0], rows.RawValues()[0]...)
	}
	if err := rows.Err(); err != nil {
		return nil, postgres.Failed(err)
	}
	if !found {
		return nil, object.ErrMissing
	}
	return into, nil
}

// Delete deletes the row.
func (c *client) Delete(item *object.Item) error {
	ctx, done, err := c.Open()
	if err != nil {
		return err
	}
	defer done()
	gone, err := c.DB.Exec(ctx, remove, item.Key)
	if err == nil && gone.RowsAffected() == 0 {
		return object.ErrMissing
	}
	return postgres.Failed(err)
}
