// Package clickhouse talks to ClickHouse over HTTP: rows in RowBinary, one table per
// table of the dataset, sorted by host and time. Times are nanoseconds as integers,
// which every version supports.
package clickhouse

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"net/url"
	"strings"
	"time"

	"benchbook/benchload/dataset"
	"benchbook/benchload/format"
	"benchbook/benchload/query/spec"
	"benchbook/benchload/system"
	"benchbook/benchload/target"
	"benchbook/benchload/target/lines"
	"benchbook/benchload/target/tabular"
	"benchbook/benchload/target/wire"
)

// ClickHouse is a database of a server.
type ClickHouse struct {
	address        wire.Address
	database, user string
	timeout        time.Duration
	rows           *format.Rows
	tables         []dataset.Table
}

// New creates the target; the user may be empty.
func New(address wire.Address, database, user string, timeout time.Duration) *ClickHouse {
	return &ClickHouse{address: address, database: database, user: lines.Basic(user), timeout: timeout}
}

// Name returns the name of this kind of target.
func (t *ClickHouse) Name() string { return "clickhouse" }

// Format returns typed rows.
func (t *ClickHouse) Format(generator dataset.Generator) (format.Format, error) {
	if _, irregular := generator.(dataset.Irregular); irregular {
		return nil, errors.New("some of its rows lack a value, and the columns here have one in each row")
	}
	t.rows, t.tables = format.NewRows(generator), generator.Tables()
	return t.rows, nil
}

// quote keeps a name as it is.
func quote(name string) string { return "`" + strings.ReplaceAll(name, "`", "\\`") + "`" }

// path is that of a statement.
func path(statement string) string { return "/?" + url.Values{"query": {statement}}.Encode() }

// Holds creates the database if it does not exist and reports whether a table has a row.
func (t *ClickHouse) Holds() (bool, error) {
	client := &client{Client: lines.NewClient(t.address, t.timeout, "", t.user), target: t}
	defer client.Close()
	if _, err := client.ask("CREATE DATABASE IF NOT EXISTS "+quote(t.database), nil); err != nil {
		return false, err
	}
	answer, err := client.ask(fmt.Sprintf("SELECT name FROM system.tables WHERE database = '%s'", t.database), nil)
	if err != nil {
		return false, err
	}
	for _, table := range strings.Fields(string(answer.Body)) {
		rows, err := client.ask("SELECT 1 FROM "+t.name(table)+" LIMIT 1", nil)
		if err != nil || len(rows.Body) > 0 {
			return err == nil, err
		}
	}
	return false, nil
}

// name is a table of the database.
func (t *ClickHouse) name(table string) string { return quote(t.database) + "." + quote(table) }

// Prepare creates the tables.
func (t *ClickHouse) Prepare() error {
	client := &client{Client: lines.NewClient(t.address, t.timeout, "", t.user), target: t}
	defer client.Close()
	for _, table := range t.tables {
		columns := []string{"`time` Int64"}
		for _, tag := range table.Tags {
			columns = append(columns, quote(tag)+" String")
		}
		for _, field := range table.Fields {
			kind := " Float64"
			if field.Kind == dataset.Integer {
				kind = " Int64"
			}
			columns = append(columns, quote(field.Name)+kind)
		}
		statement := fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s (%s) ENGINE = MergeTree ORDER BY (%s, `time`)",
			t.name(table.Name), strings.Join(columns, ", "), quote(table.Tags[0]))
		if _, err := client.ask(statement, nil); err != nil {
			return err
		}
	}
	return nil
}

// Connect creates a client.
func (t *ClickHouse) Connect() (target.Conn, error) {
	c := &client{Client: lines.NewClient(t.address, t.timeout, "", t.user), target: t}
	if t.rows != nil {
		c.cursor = t.rows.Cursor()
		for _, table := range t.tables {
			c.inserts = append(c.inserts, path("INSERT INTO "+t.name(table.Name)+" FORMAT RowBinary"))
		}
	}
	return c, nil
}

// client is one connection.
type client struct {
	*lines.Client
	target  *ClickHouse
	cursor  *format.Cursor
	inserts []string // the path for each table
	body    []byte
}

// Write sends the rows of each table of a batch in a separate request.
func (c *client) Write(batch target.Batch) error {
	c.cursor.Reset(batch.Bytes)
	left := batch.Rows
	for table := range c.inserts {
		c.body = c.body[:0]
		rows := int64(0)
		for c.cursor.Only(table); c.cursor.Next(); rows++ {
			c.body = appendRow(c.body, c.cursor)
		}
		if rows == 0 {
			continue
		}
		if _, err := c.post(c.inserts[table], c.body); err != nil {
			failure := system.AsFailure(err)
			failure.Refused = left
			if left < batch.Rows && failure.Kind == system.Server {
				failure.Kind = system.Refused // sending it again would write some rows twice
			}
			return failure
		}
		left -= rows
	}
	return nil
}

// appendRow appends a row in RowBinary.
func appendRow(body []byte, cursor *format.Cursor) []byte {
	table := cursor.Table()
	body = binary.LittleEndian.AppendUint64(body, uint64(cursor.Time()))
	for tag := range table.Tags {
		text, _ := cursor.Tag(tag)
		body = append(binary.AppendUvarint(body, uint64(len(text))), text...)
	}
	for field := range table.Fields {
		number, _ := cursor.Integer(field)
		word := uint64(number)
		if table.Fields[field].Kind != dataset.Integer {
			float, _ := cursor.Float(field)
			word = math.Float64bits(float)
		}
		body = binary.LittleEndian.AppendUint64(body, word)
	}
	return body
}

// ask sends a statement.
func (c *client) ask(statement string, body []byte) (target.Answer, error) {
	return c.post(path(statement), body)
}

// post sends a request; errors are text in its answer.
func (c *client) post(path string, body []byte) (target.Answer, error) {
	if body == nil {
		body = []byte{}
	}
	status, answer, err := c.Ask("POST", path, c.target.user, body)
	if err != nil {
		return answer, err
	}
	if failure := lines.CheckStatus(status, answer.Body); failure != nil {
		// The server answers 500 to invalid statements.
		if strings.Contains(failure.Message, "DB::Exception") && !strings.Contains(failure.Message, "Too many") {
			failure.Kind = system.Refused
		}
		return answer, failure
	}
	return answer, nil
}

// Text returns the query in SQL; the columns of its answer are time, host and value.
func (t *ClickHouse) Text(query spec.Query) ([]byte, error) {
	if query.Form != "" {
		return nil, errors.New("the queries of the iot use case are not rendered for clickhouse")
	}
	host, by := "''", ""
	if query.GroupByHost {
		host, by = "hostname", ", hostname"
	}
	where := fmt.Sprintf("`time` >= %d AND `time` < %d", query.StartNS, query.EndNS)
	if len(query.Hosts) > 0 {
		where = "hostname IN ('" + strings.Join(query.Hosts, "', '") + "') AND " + where
	}
	function := map[string]string{"max": "max", "mean": "avg"}[query.Aggregate]
	return fmt.Appendf(nil, "SELECT intDiv(`time`, %d) * %d AS bucket, %s, %s(%s) FROM %s WHERE %s GROUP BY bucket%s",
		query.BucketNS, query.BucketNS, host, function, quote(query.Field), t.name(query.Table), where, by), nil
}

// Query sends a query and reads the whole answer.
func (c *client) Query(text []byte) (target.Answer, error) { return c.ask(string(text), nil) }

// Rows reads an answer.
func (t *ClickHouse) Rows(_ spec.Query, body []byte) ([]target.Row, error) { return tabular.Rows(body) }
