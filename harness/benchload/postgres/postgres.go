// Package postgres connects to servers that speak PostgreSQL's protocol, through pgx: what
// all workloads share. Each workload has its own statements.
package postgres

import (
	"context"
	"errors"
	"net"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"benchbook/benchload/system"
	"benchbook/benchload/target/lines"
)

// Example is an address of a server.
const Example = "postgres://127.0.0.1:5432"

// Server is a database of a server.
type Server struct {
	config  *pgx.ConnConfig
	timeout time.Duration
}

// New creates the server at a place, whose address is such as postgres://127.0.0.1:5432.
// Without a user it names the one that servers have from the start.
func New(at system.Place) (*Server, error) {
	config, err := pgx.ParseConfig(at.URL)
	if err != nil {
		return nil, err
	}
	config.Database, config.ConnectTimeout = at.Database, at.Timeout
	if name, password, _ := strings.Cut(at.User, ":"); name != "" {
		config.User, config.Password = name, password
	} else if !strings.Contains(at.URL, "@") {
		config.User = "postgres"
	}
	return &Server{config, at.Timeout}, nil
}

// Database returns the name of the database.
func (s *Server) Database() string { return s.config.Database }

// Once runs do over a separate connection, however long it takes. Its failures are a
// *system.Failure.
func (s *Server) Once(do func(ctx context.Context, conn *pgx.Conn) error) error {
	c := s.Connect()
	defer c.Close()
	_, done, err := c.Open()
	if err != nil {
		return err
	}
	done()
	return Failed(do(c.ctx, c.DB))
}

// noDatabase is the code of a database that does not exist.
const noDatabase = "3D000"

// CreateDatabase creates the database unless it exists, over the one that every server has.
func (s *Server) CreateDatabase() error {
	config := s.config.Copy()
	err := s.Once(func(context.Context, *pgx.Conn) error { return nil })
	if err == nil || !Is(err, noDatabase) {
		return err
	}
	config.Database = "postgres"
	other := Server{config, s.timeout}
	return other.Once(func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, "CREATE DATABASE "+Quote(s.config.Database))
		return err
	})
}

// Conn is one connection. The verbs of a workload embed it.
type Conn struct {
	DB     *pgx.Conn // nil before Open
	server *Server
	ctx    context.Context
	end    context.CancelFunc
}

// Connect creates a connection; Open opens it.
func (s *Server) Connect() *Conn {
	c := &Conn{server: s}
	c.ctx, c.end = context.WithCancel(context.Background())
	return c
}

// Open connects unless there is a connection, and returns the context of one operation,
// which ends at the timeout and when the connection is interrupted.
func (c *Conn) Open() (context.Context, context.CancelFunc, error) {
	if c.DB == nil || c.DB.IsClosed() {
		conn, err := pgx.ConnectConfig(c.ctx, c.server.config)
		if err != nil {
			return nil, nil, Failed(err)
		}
		c.DB = conn
	}
	ctx, cancel := context.WithTimeout(c.ctx, c.server.timeout)
	return ctx, cancel, nil
}

// Interrupt ends a waiting operation and all later ones.
func (c *Conn) Interrupt() { c.end() }

// Close closes the connection.
func (c *Conn) Close() {
	if c.DB != nil {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = c.DB.Close(ctx)
	}
	c.end()
}

// Quote keeps the case of a name, and takes words of the language as names.
func Quote(name string) string { return pgx.Identifier{name}.Sanitize() }

// Is reports whether an error has this code of PostgreSQL.
func Is(err error, code string) bool {
	var failed *pgconn.PgError
	return errors.As(err, &failed) && failed.Code == code
}

// Failed converts an error of the driver to a failure; nil for no error.
func Failed(err error) error {
	if err == nil {
		return nil
	}
	if known := (*system.Failure)(nil); errors.As(err, &known) {
		return known
	}
	failure := &system.Failure{Kind: system.Connection, Message: lines.Steady(err.Error()), Cause: err}
	var failed *pgconn.PgError
	var waited net.Error
	switch {
	case errors.As(err, &failed):
		failure.Kind, failure.Message = system.Refused, lines.Steady(failed.Message+" ("+failed.Code+")")
		// Classes that may pass: a transaction that can be repeated, too few resources, shutting down.
		switch failed.Code[:min(2, len(failed.Code))] {
		case "40", "53", "57":
			failure.Kind = system.Server
		}
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &waited) && waited.Timeout():
		failure.Kind, failure.Message = system.Timeout, "no complete answer within --timeout"
	}
	return failure
}
