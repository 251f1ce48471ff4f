// Package postgres stores bars in PostgreSQL, in the published table.
package postgres

import (
	"context"
	"encoding/binary"
	"errors"
	"net/url"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"benchbook/benchload/bars"
	"benchbook/benchload/target"
)

const columns = "stock_name, date_time, open, close, high, low, volume, amount, turn"

// table is the published one in PostgreSQL's types; the primary key is its index.
const table = `CREATE TABLE finance (
  stock_name INTEGER NOT NULL,
  date_time TIMESTAMP(0) NOT NULL,
  open INTEGER NOT NULL,
  close INTEGER NOT NULL,
  high INTEGER NOT NULL,
  low INTEGER NOT NULL,
  volume BIGINT NOT NULL,
  amount BIGINT NOT NULL,
  turn INTEGER NOT NULL,
  PRIMARY KEY (stock_name, date_time)
)`

const read = "SELECT " + columns + " FROM finance WHERE stock_name = $1 AND date_time BETWEEN $2 AND $3"

// duplicateTable is PostgreSQL's code for a table that already exists.
const duplicateTable = "42P07"

// Store is one database of a server.
type Store struct {
	config  *pgx.ConnConfig
	timeout time.Duration
}

// New creates a store; the URL is postgres://USER@HOST:PORT.
func New(address *url.URL, database string, timeout time.Duration) (*Store, error) {
	full := *address
	full.Path = "/" + database
	config, err := pgx.ParseConfig(full.String())
	if err != nil {
		return nil, err
	}
	config.ConnectTimeout = timeout
	return &Store{config, timeout}, nil
}

// Name returns the name of the kind of system.
func (s *Store) Name() string { return "postgresql" }

// Prepare creates the table.
func (s *Store) Prepare() error {
	ctx, stop := context.WithTimeout(context.Background(), s.timeout)
	defer stop()
	conn, err := pgx.ConnectConfig(ctx, s.config)
	if err != nil {
		return failureOf(err)
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, table)
	if failure := (*pgconn.PgError)(nil); errors.As(err, &failure) && failure.Code == duplicateTable {
		return &target.Failure{Kind: target.NotEmpty, Message: "the database " + s.config.Database + " holds the table finance already; drop it, or name another with --database"}
	}
	return failureOf(err)
}

// Client creates a client.
func (s *Store) Client() bars.Client {
	ctx, stop := context.WithCancel(context.Background())
	return &client{store: s, ctx: ctx, stop: stop}
}

// client is one connection with one prepared statement.
type client struct {
	store *Store
	ctx   context.Context
	stop  func()
	conn  *pgx.Conn
}

func (c *client) connect(ctx context.Context) error {
	if c.conn != nil {
		return nil
	}
	conn, err := pgx.ConnectConfig(ctx, c.store.config)
	if err != nil {
		return failureOf(err)
	}
	c.conn = conn
	return nil
}

// Write copies the rows in, which is one transaction.
func (c *client) Write(all []bars.Bar) error {
	ctx, stop := context.WithTimeout(c.ctx, c.store.timeout)
	defer stop()
	if err := c.connect(ctx); err != nil {
		return err
	}
	_, err := c.conn.CopyFrom(ctx, pgx.Identifier{"finance"}, bars.Columns[:], &copied{bars: all, at: -1})
	return c.fail(err)
}

// copied passes rows to COPY.
type copied struct {
	bars []bars.Bar
	at   int
	row  [len(bars.Columns)]any
}

func (c *copied) Next() bool { c.at++; return c.at < len(c.bars) }
func (c *copied) Err() error { return nil }
func (c *copied) Values() ([]any, error) {
	bar := &c.bars[c.at]
	c.row[0], c.row[1] = int32(bar.Stock), time.Unix(bar.Time, 0).UTC()
	for i, value := range bar.Values {
		c.row[2+i] = int64(value)
	}
	return c.row[:], nil
}

// Read runs the published query; rows arrive in binary and are always decoded.
func (c *client) Read(request *bars.Request, _ bool, answer *bars.Answer) error {
	ctx, stop := context.WithTimeout(c.ctx, c.store.timeout)
	defer stop()
	if err := c.connect(ctx); err != nil {
		return err
	}
	rows, err := c.conn.Query(ctx, read, int32(request.Stock), time.Unix(request.From, 0).UTC(), time.Unix(request.To, 0).UTC())
	if err != nil {
		return c.fail(err)
	}
	for rows.Next() {
		answer.Bars = append(answer.Bars, bar(rows.RawValues()))
	}
	rows.Close()
	answer.Rows = int64(len(answer.Bars))
	answer.Bytes = answer.Rows * bars.Size
	return c.fail(rows.Err())
}

// epoch is PostgreSQL's 2000-01-01 in seconds since 1970.
const epoch = 946_684_800

// bar reads a row of the published columns in binary.
func bar(values [][]byte) bars.Bar {
	made := bars.Bar{
		Stock: uint16(number(values[0])),
		Time:  number(values[1])/1_000_000 + epoch,
	}
	for i := range made.Values {
		made.Values[i] = uint32(number(values[2+i]))
	}
	return made
}

// number is a whole number of 4 or 8 bytes.
func number(value []byte) int64 {
	switch len(value) {
	case 4:
		return int64(int32(binary.BigEndian.Uint32(value)))
	case 8:
		return int64(binary.BigEndian.Uint64(value))
	}
	return -1
}

// fail closes a lost connection, so that the next operation connects again.
func (c *client) fail(err error) error {
	if err != nil && c.conn != nil && c.conn.IsClosed() {
		c.conn = nil
	}
	return failureOf(err)
}

// Interrupt ends a waiting operation and all later ones.
func (c *client) Interrupt() { c.stop() }

// Close closes the connection.
func (c *client) Close() {
	if c.conn != nil {
		ctx, stop := context.WithTimeout(context.Background(), time.Second)
		_ = c.conn.Close(ctx)
		stop()
		c.conn = nil
	}
	c.stop()
}

// failureOf converts an error to a failure.
func failureOf(err error) error {
	if err == nil {
		return nil
	}
	if failure := (*pgconn.PgError)(nil); errors.As(err, &failure) {
		kind := target.Refused
		// 40: retry; 53: no space or too many connections; 57: shut down.
		if strings.HasPrefix(failure.Code, "40") || strings.HasPrefix(failure.Code, "53") || strings.HasPrefix(failure.Code, "57") {
			kind = target.Server
		}
		return &target.Failure{Kind: kind, Message: failure.Code + ": " + failure.Message}
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return &target.Failure{Kind: target.Timeout, Message: "no complete answer in time"}
	}
	return &target.Failure{Kind: target.Connection, Message: err.Error()}
}
