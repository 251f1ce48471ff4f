package mysql

import (
	"context"
	sqldriver "database/sql/driver"
	"io"
	"strconv"
	"time"

	driver "github.com/go-sql-driver/mysql"

	"benchbook/experiments/kline-mysql-vs-kv/client/bars"
)

// client is one connection with one prepared statement, like an application that
// repeats reads of the same shape.
type client struct {
	store *Store
	ctx   context.Context
	stop  func()

	conn      sqldriver.Conn
	statement sqldriver.Stmt
	arguments [3]sqldriver.NamedValue
	values    [len(bars.Columns)]sqldriver.Value
	text      []byte
}

// connect connects unless there is a connection.
func (c *client) connect() error {
	if c.conn != nil {
		return nil
	}
	connector, err := driver.NewConnector(c.store.config)
	if err != nil {
		return err
	}
	ctx, stop := context.WithTimeout(c.ctx, c.store.config.Timeout)
	defer stop()
	if c.conn, err = connector.Connect(ctx); err != nil {
		c.conn = nil
		return failureOf(err)
	}
	return nil
}

// fail closes the connection, so that the next operation connects again.
func (c *client) fail(err error) error {
	c.hangUp()
	return failureOf(err)
}

// Write inserts all rows in one statement, which is one transaction.
func (c *client) Write(all []bars.Bar) error {
	if err := c.connect(); err != nil {
		return err
	}
	text := append(c.text[:0], "INSERT INTO finance ("+columns+") VALUES "...)
	for i := range all {
		bar := &all[i]
		if i > 0 {
			text = append(text, ',')
		}
		text = strconv.AppendUint(append(text, '('), uint64(bar.Stock), 10)
		text = time.Unix(bar.Time, 0).UTC().AppendFormat(append(text, ",'"...), time.DateTime)
		text = append(text, '\'')
		for _, value := range bar.Values {
			text = strconv.AppendUint(append(text, ','), uint64(value), 10)
		}
		text = append(text, ')')
	}
	c.text = text
	ctx, stop := context.WithTimeout(c.ctx, c.store.config.ReadTimeout)
	defer stop()
	if _, err := c.conn.(sqldriver.ExecerContext).ExecContext(ctx, string(text), nil); err != nil {
		return c.fail(err)
	}
	return nil
}

// Read runs the published query. Its rows are always decoded, because that is the only
// way to find where one ends.
func (c *client) Read(request *bars.Request, _ bool, answer *bars.Answer) error {
	if err := c.connect(); err != nil {
		return err
	}
	// The driver limits each read from the server only, and this the whole answer.
	ctx, stop := context.WithTimeout(c.ctx, c.store.config.ReadTimeout)
	defer stop()
	if c.statement == nil {
		statement, err := c.conn.(sqldriver.ConnPrepareContext).PrepareContext(ctx, read)
		if err != nil {
			return c.fail(err)
		}
		c.statement = statement
	}
	for i := range c.arguments {
		c.arguments[i].Ordinal = i + 1
	}
	c.arguments[0].Value = int64(request.Stock)
	c.arguments[1].Value, c.arguments[2].Value = bars.Clock(request.From), bars.Clock(request.To)
	rows, err := c.statement.(sqldriver.StmtQueryContext).QueryContext(ctx, c.arguments[:])
	if err != nil {
		return c.fail(err)
	}
	for {
		err := rows.Next(c.values[:])
		if err == io.EOF {
			break
		}
		if err != nil {
			return c.fail(err)
		}
		answer.Bars = append(answer.Bars, bar(c.values[:]))
	}
	answer.Rows = int64(len(answer.Bars))
	answer.Bytes = answer.Rows * bars.Size
	if err := rows.Close(); err != nil {
		return c.fail(err)
	}
	return nil
}

// bar reads a row of the published columns.
func bar(values []sqldriver.Value) bars.Bar {
	made := bars.Bar{Stock: uint16(number(values[0]))}
	if clock, ok := values[1].([]byte); ok {
		made.Time = seconds(clock)
	}
	for i := range made.Values {
		made.Values[i] = uint32(number(values[2+i]))
	}
	return made
}

// number converts the value of an integer from the driver.
func number(value sqldriver.Value) int64 {
	switch n := value.(type) {
	case int64:
		return n
	case uint64:
		return int64(n)
	case []byte:
		parsed, _ := strconv.ParseInt(string(n), 10, 64)
		return parsed
	}
	return -1
}

// seconds parses 2020-05-09 09:31:00; a result below zero means an invalid time.
func seconds(text []byte) int64 {
	if len(text) != len(time.DateTime) {
		return -1
	}
	digits := func(from, count int) int {
		n := 0
		for _, c := range text[from : from+count] {
			n = n*10 + int(c-'0')
		}
		return n
	}
	return time.Date(digits(0, 4), time.Month(digits(5, 2)), digits(8, 2),
		digits(11, 2), digits(14, 2), digits(17, 2), 0, time.UTC).Unix()
}

// Interrupt ends a waiting operation and all later ones.
func (c *client) Interrupt() { c.stop() }

// Close closes the connection.
func (c *client) Close() {
	c.hangUp()
	c.stop()
}

func (c *client) hangUp() {
	if c.statement != nil {
		_ = c.statement.Close()
		c.statement = nil
	}
	if c.conn != nil {
		_ = c.conn.Close()
		c.conn = nil
	}
}

// Partitions returns how many partitions keep each below 100 MB, as published, at about
// 60 bytes per row.
func Partitions(rows int64) int64 {
	const bytesOfRow, bytesOfPartition, most = 60, 100_000_000, 8192
	return min(max(rows*bytesOfRow/bytesOfPartition+1, 1), most)
}
