// Package postgres stores bars in PostgreSQL, in the published table.
package postgres

import (
	"context"
	"encoding/binary"
	"time"

	"github.com/jackc/pgx/v5"

	"benchbook/benchload/postgres"
	"benchbook/benchload/system"
	"benchbook/experiments/kline-mysql-vs-kv/client/bars"
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
type Store struct{ server *postgres.Server }

// New creates the store at a place.
func New(at system.Place) (*Store, error) {
	server, err := postgres.New(at)
	return &Store{server}, err
}

// Name returns the name of the kind of system.
func (s *Store) Name() string { return "postgresql" }

// Prepare creates the table.
func (s *Store) Prepare() error {
	err := s.server.Once(func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, table)
		return err
	})
	if postgres.Is(err, duplicateTable) {
		return &system.Failure{Kind: system.NotEmpty, Message: "the database " + s.server.Database() + " holds the table finance already; drop it, or name another with --database"}
	}
	return err
}

// Connect creates a client.
func (s *Store) Connect() (bars.Conn, error) { return &client{s.server.Connect()}, nil }

// client is one connection with one prepared statement.
type client struct{ *postgres.Conn }

// Write copies the rows in, which is one transaction.
func (c *client) Write(all []bars.Bar) error {
	ctx, done, err := c.Open()
	if err != nil {
		return err
	}
	defer done()
	_, err = c.DB.CopyFrom(ctx, pgx.Identifier{"finance"}, bars.Columns[:], &copied{bars: all, at: -1})
	return postgres.Failed(err)
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
	ctx, done, err := c.Open()
	if err != nil {
		return err
	}
	defer done()
	rows, err := c.DB.Query(ctx, read, int32(request.Stock), time.Unix(request.From, 0).UTC(), time.Unix(request.To, 0).UTC())
	if err != nil {
		return postgres.Failed(err)
	}
	for rows.Next() {
		answer.Bars = append(answer.Bars, bar(rows.RawValues()))
	}
	rows.Close()
	answer.Rows = int64(len(answer.Bars))
	answer.Bytes = answer.Rows * bars.Size
	return postgres.Failed(rows.Err())
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
