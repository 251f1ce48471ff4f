// Package postgres talks to PostgreSQL and TimescaleDB through pgx: one table per table
// of the dataset, with an index on host and time; rows by COPY, in binary.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"benchbook/benchload/dataset"
	"benchbook/benchload/format"
	"benchbook/benchload/target"
	"benchbook/benchload/target/lines"
)

// Postgres is a database of a server.
type Postgres struct {
	config  *pgx.ConnConfig
	wrong   error // with the address
	timeout time.Duration
	hyper   bool // tables become hypertables of TimescaleDB
	rows    *format.Rows
	tables  []dataset.Table
}

// New creates the target for an address such as postgres://127.0.0.1:5432; without
// a user it names the one that servers have from the start.
func New(url, database, user string, timeout time.Duration) *Postgres {
	t := &Postgres{timeout: timeout}
	if t.config, t.wrong = pgx.ParseConfig(url); t.wrong != nil {
		return t
	}
	t.config.Database, t.config.ConnectTimeout = database, timeout
	if name, password, _ := strings.Cut(user, ":"); name != "" {
		t.config.User, t.config.Password = name, password
	} else if !strings.Contains(url, "@") {
		t.config.User = "postgres"
	}
	return t
}

// Hyper creates tables that TimescaleDB partitions by time.
func (t *Postgres) Hyper() *Postgres {
	t.hyper = true
	return t
}

// Name returns the name of this kind of target.
func (t *Postgres) Name() string {
	if t.hyper {
		return "timescaledb"
	}
	return "postgresql"
}

// Format returns typed rows, whose times are whole microseconds.
func (t *Postgres) Format(generator dataset.Generator) (format.Format, error) {
	if e := generator.Extent(); e.Start%microsecond != 0 || e.Interval%microsecond != 0 {
		return nil, errors.New("its times are finer than microseconds")
	}
	t.rows, t.tables = format.NewRows(generator), generator.Tables()
	return t.rows, nil
}

// microsecond is the unit of its times.
const microsecond = 1000

// connect opens one connection.
func (t *Postgres) connect(ctx context.Context) (*pgx.Conn, error) {
	if t.wrong != nil {
		return nil, t.wrong
	}
	conn, err := pgx.ConnectConfig(ctx, t.config)
	if err != nil {
		return nil, failureOf(err)
	}
	return conn, nil
}

// withConn runs do over a separate connection, within the timeout.
func (t *Postgres) withConn(do func(ctx context.Context, conn *pgx.Conn) error) error {
	ctx := context.Background()
	conn, err := t.connect(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	if err := do(ctx, conn); err != nil {
		return failureOf(err)
	}
	return nil
}

// Holds creates the database if it does not exist and reports whether a table has a row.
func (t *Postgres) Holds() (holds bool, err error) {
	if t.wrong != nil {
		return false, t.wrong
	}
	if err := t.make(); err != nil {
		return false, err
	}
	err = t.withConn(func(ctx context.Context, conn *pgx.Conn) error {
		tables, err := columns(ctx, conn)
		if err != nil {
			return err
		}
		for table := range tables {
			if err := conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM "+quote(table)+")").Scan(&holds); err != nil || holds {
				return err
			}
		}
		return nil
	})
	return holds, err
}

// missing is the code of a database that does not exist.
const missing = "3D000"

// make creates the database, over the one that every server has.
func (t *Postgres) make() error {
	err := t.withConn(func(context.Context, *pgx.Conn) error { return nil })
	var pgError *pgconn.PgError
	if failure := target.AsFailure(err); failure == nil || !strings.Contains(failure.Message, missing) && !errors.As(err, &pgError) {
		return err
	}
	other := *t
	other.config = t.config.Copy()
	other.config.Database = "postgres"
	return other.withConn(func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, "CREATE DATABASE "+quote(t.config.Database))
		return err
	})
}

// Prepare creates the tables, and an index for each.
func (t *Postgres) Prepare() error {
	return t.withConn(func(ctx context.Context, conn *pgx.Conn) error {
		if t.hyper {
			if _, err := conn.Exec(ctx, "CREATE EXTENSION IF NOT EXISTS timescaledb"); err != nil {
				return err
			}
		}
		for i := range t.tables {
			table := &t.tables[i]
			for _, statement := range t.create(table) {
				if _, err := conn.Exec(ctx, statement); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// create returns the statements that create a table.
func (t *Postgres) create(table *dataset.Table) []string {
	columns := []string{`"time" timestamptz NOT NULL`}
	for _, tag := range table.Tags {
		columns = append(columns, quote(tag)+" text")
	}
	for _, field := range table.Fields {
		kind := " double precision"
		if field.Kind == dataset.Integer {
			kind = " bigint"
		}
		columns = append(columns, quote(field.Name)+kind)
	}
	statements := []string{fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s (%s)", quote(table.Name), strings.Join(columns, ", "))}
	if t.hyper {
		statements = append(statements, fmt.Sprintf("SELECT create_hypertable('%s', 'time', if_not_exists => true, create_default_indexes => false)",
			strings.ReplaceAll(quote(table.Name), "'", "''")))
	}
	return append(statements, fmt.Sprintf(`CREATE INDEX IF NOT EXISTS %s ON %s (%s, "time" DESC)`,
		quote(table.Name+"_host_time"), quote(table.Name), quote(table.Tags[0])))
}

// quote keeps the case of a name, and takes words of the language as names.
func quote(name string) string { return pgx.Identifier{name}.Sanitize() }

// failureOf converts an error of the driver to a failure.
func failureOf(err error) *target.Failure {
	if known := (*target.Failure)(nil); errors.As(err, &known) {
		return known
	}
	failure := &target.Failure{Kind: target.Connection, Message: lines.Steady(err.Error())}
	var pgError *pgconn.PgError
	var waited net.Error
	switch {
	case errors.As(err, &pgError):
		failure.Kind, failure.Message = target.Refused, lines.Steady(pgError.Message+" ("+pgError.Code+")")
		// Classes that may pass: too few resources, shutting down.
		if strings.HasPrefix(pgError.Code, "53") || strings.HasPrefix(pgError.Code, "57") {
			failure.Kind = target.Server
		}
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &waited) && waited.Timeout():
		failure.Kind, failure.Message = target.Timeout, "no complete answer within --timeout"
	}
	return failure
}
