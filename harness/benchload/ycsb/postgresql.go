package ycsb

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"benchbook/benchload/postgres"
)

// sql keeps records as rows of one table, whose columns are the fields.
type sql struct {
	server                       *postgres.Server
	create, insert, read, within string
	update                       []string
}

// newSQL creates the store at a place.
func newSQL(p place) (Store, error) {
	server, err := postgres.New(p.Place)
	if err != nil {
		return nil, err
	}
	s := &sql{
		server: server,
		read:   "SELECT * FROM usertable WHERE ycsb_key = $1",
		within: "SELECT * FROM usertable WHERE ycsb_key >= $1 ORDER BY ycsb_key LIMIT $2",
	}
	var columns, values strings.Builder
	for i := range p.fields {
		fmt.Fprintf(&columns, ", field%d text NOT NULL", i)
		fmt.Fprintf(&values, ", $%d", i+2)
		s.update = append(s.update, fmt.Sprintf("UPDATE usertable SET field%d = $2 WHERE ycsb_key = $1", i))
	}
	// Keys in the order of their bytes, as every store scans them.
	s.create = fmt.Sprintf(`CREATE TABLE usertable (ycsb_key text COLLATE "C" PRIMARY KEY%s)`, columns.String())
	s.insert = fmt.Sprintf("INSERT INTO usertable VALUES ($1%s)", values.String())
	return s, nil
}

func (s *sql) Name() string { return "postgresql" }

func (s *sql) Prepare() error {
	return s.server.Once(func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, s.create)
		return err
	})
}

func (s *sql) Connect() (Conn, error) {
	c := &sqlConn{s.server.Connect(), s}
	_, done, err := c.Open()
	if err != nil {
		return nil, err
	}
	done()
	return c, nil
}

// sqlConn is one connection. pgx prepares each of the statements once.
type sqlConn struct {
	*postgres.Conn
	store *sql
}

func (c *sqlConn) Insert(record *Record) error {
	values := []any{record.Key}
	for _, value := range record.Fields {
		values = append(values, string(value))
	}
	return c.write(c.store.insert, values...)
}

func (c *sqlConn) Update(key string, field int, value []byte) error {
	return c.write(c.store.update[field], key, string(value))
}

// write runs a statement that changes one row.
func (c *sqlConn) write(statement string, values ...any) error {
	ctx, done, err := c.Open()
	if err != nil {
		return err
	}
	defer done()
	changed, err := c.DB.Exec(ctx, statement, values...)
	if err == nil && changed.RowsAffected() != 1 {
		return wrong("a statement changed %d rows in place of one", changed.RowsAffected())
	}
	return postgres.Failed(err)
}

func (c *sqlConn) Read(key string, into []Record) ([]Record, error) {
	return c.rows(into, c.store.read, key)
}

func (c *sqlConn) Scan(from string, count int, into []Record) ([]Record, error) {
	return c.rows(into, c.store.within, from, count)
}

// rows appends the rows of an answer.
func (c *sqlConn) rows(into []Record, statement string, values ...any) ([]Record, error) {
	ctx, done, err := c.Open()
	if err != nil {
		return into, err
	}
	defer done()
	rows, err := c.DB.Query(ctx, statement, values...)
	if err != nil {
		return into, postgres.Failed(err)
	}
	for rows.Next() {
		raw := rows.RawValues() // valid until the next row
		record := Record{Key: string(raw[0]), Fields: make([][]byte, len(raw)-1)}
		for i := range record.Fields {
			record.Fields[i] = append([]byte(nil), raw[i+1]...)
		}
		into = append(into, record)
	}
	return into, postgres.Failed(rows.Err())
}
