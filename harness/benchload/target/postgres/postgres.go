// Package postgres talks to PostgreSQL and TimescaleDB through pgx: one table per table
// of the dataset, with an index on host and time; rows by COPY, in binary.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"benchbook/benchload/dataset"
	"benchbook/benchload/format"
	"benchbook/benchload/postgres"
	"benchbook/benchload/system"
)

// Postgres is a database of a server.
type Postgres struct {
	server *postgres.Server
	hyper  bool // tables become hypertables of TimescaleDB
	rows   *format.Rows
	tables []dataset.Table
}

// New creates the target at a place.
func New(at system.Place) (*Postgres, error) {
	server, err := postgres.New(at)
	return &Postgres{server: server}, err
}

// NewHyper creates the target whose tables TimescaleDB partitions by time.
func NewHyper(at system.Place) (*Postgres, error) {
	t, err := New(at)
	t.hyper = true
	return t, err
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

// Holds creates the database if it does not exist and reports whether a table has a row.
func (t *Postgres) Holds() (holds bool, err error) {
	if err := t.server.CreateDatabase(); err != nil {
		return false, err
	}
	err = t.server.Once(func(ctx context.Context, conn *pgx.Conn) error {
		tables, err := columns(ctx, conn)
		if err != nil {
			return err
		}
		for table := range tables {
			if err := conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM "+postgres.Quote(table)+")").Scan(&holds); err != nil || holds {
				return err
			}
		}
		return nil
	})
	return holds, err
}

// Prepare creates the tables, and an index for each.
func (t *Postgres) Prepare() error {
	return t.server.Once(func(ctx context.Context, conn *pgx.Conn) error {
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
		columns = append(columns, postgres.Quote(tag)+" text")
	}
	for _, field := range table.Fields {
		kind := " double precision"
		if field.Kind == dataset.Integer {
			kind = " bigint"
		}
		columns = append(columns, postgres.Quote(field.Name)+kind)
	}
	statements := []string{fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s (%s)", postgres.Quote(table.Name), strings.Join(columns, ", "))}
	if t.hyper {
		statements = append(statements, fmt.Sprintf("SELECT create_hypertable('%s', 'time', if_not_exists => true, create_default_indexes => false)",
			strings.ReplaceAll(postgres.Quote(table.Name), "'", "''")))
	}
	return append(statements, fmt.Sprintf(`CREATE INDEX IF NOT EXISTS %s ON %s (%s, "time" DESC)`,
		postgres.Quote(table.Name+"_host_time"), postgres.Quote(table.Name), postgres.Quote(table.Tags[0])))
}
