// Package cassandra talks CQL through gocql: one keyspace, one table per table of the
// dataset, one partition per host. Rows go in unlogged batches of one partition key
// each, several at once, as the driver's guide advises.
package cassandra

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/gocql/gocql"

	"benchbook/benchload/dataset"
	"benchbook/benchload/format"
	"benchbook/benchload/system"
	"benchbook/benchload/target/lines"
)

// Cassandra is a keyspace of a server.
type Cassandra struct {
	host, keyspace, user string
	timeout              time.Duration
	rows                 *format.Rows
	tables               []dataset.Table

	lock    sync.Mutex
	session *gocql.Session
}

// New creates the target; the user may be empty.
func New(url, keyspace, user string, timeout time.Duration) *Cassandra {
	return &Cassandra{host: strings.TrimPrefix(url, "cassandra://"), keyspace: keyspace, user: user, timeout: timeout}
}

// Name returns the name of this kind of target.
func (t *Cassandra) Name() string { return "cassandra" }

// Format returns typed rows, if each has the tag that its partition is named by.
func (t *Cassandra) Format(generator dataset.Generator) (format.Format, error) {
	if _, irregular := generator.(dataset.Irregular); irregular {
		return nil, errors.New("some of its rows lack a tag, and a partition needs its first one")
	}
	t.rows, t.tables = format.NewRows(generator), generator.Tables()
	return t.rows, nil
}

// open connects once; all clients share the driver's connections.
func (t *Cassandra) open() (*gocql.Session, error) {
	t.lock.Lock()
	defer t.lock.Unlock()
	if t.session != nil {
		return t.session, nil
	}
	cluster := gocql.NewCluster(t.host)
	cluster.Timeout, cluster.ConnectTimeout = t.timeout, t.timeout
	cluster.Consistency = gocql.One
	cluster.DisableInitialHostLookup = true
	cluster.Logger = silent{}
	cluster.NumConns = connections
	if name, password, _ := strings.Cut(t.user, ":"); name != "" {
		cluster.Authenticator = gocql.PasswordAuthenticator{Username: name, Password: password}
	}
	session, err := cluster.CreateSession()
	if err != nil {
		return nil, failureOf(err)
	}
	t.session = session
	return session, nil
}

// connections are those of the pool. Requests of all clients share them.
const connections = 2

// silent keeps the driver from writing to standard error.
type silent struct{}

func (silent) Print(...any)          {}
func (silent) Printf(string, ...any) {}
func (silent) Println(...any)        {}

// Holds reports whether a table of the keyspace has a row.
func (t *Cassandra) Holds() (bool, error) {
	session, err := t.open()
	if err != nil {
		return false, err
	}
	tables, err := t.columns(session)
	if err != nil {
		return false, err
	}
	for table := range tables {
		found := session.Query(fmt.Sprintf("SELECT * FROM %s LIMIT 1", t.name(table))).Iter()
		rows := found.NumRows()
		if err := found.Close(); err != nil {
			return false, failureOf(err)
		}
		if rows > 0 {
			return true, nil
		}
	}
	return false, nil
}

// Prepare creates the keyspace and the tables.
func (t *Cassandra) Prepare() error {
	session, err := t.open()
	if err != nil {
		return err
	}
	keyspace := "CREATE KEYSPACE IF NOT EXISTS " + quote(t.keyspace) +
		" WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"
	statements := []string{keyspace}
	for i := range t.tables {
		statements = append(statements, t.create(&t.tables[i]))
	}
	for _, statement := range statements {
		if err := session.Query(statement).Exec(); err != nil {
			return failureOf(err)
		}
	}
	return nil
}

// create makes a table: a partition a host, in the order of time.
func (t *Cassandra) create(table *dataset.Table) string {
	columns := []string{`"time" timestamp`}
	for _, tag := range table.Tags {
		columns = append(columns, quote(tag)+" text")
	}
	for _, field := range table.Fields {
		kind := " double"
		if field.Kind == dataset.Integer {
			kind = " bigint"
		}
		columns = append(columns, quote(field.Name)+kind)
	}
	return fmt.Sprintf(`CREATE TABLE IF NOT EXISTS %s (%s, PRIMARY KEY ((%s), "time"))`,
		t.name(table.Name), strings.Join(columns, ", "), quote(table.Tags[0]))
}

// insert is the statement that writes a row of a table.
func (t *Cassandra) insert(table *dataset.Table) string {
	columns := []string{`"time"`}
	for _, tag := range table.Tags {
		columns = append(columns, quote(tag))
	}
	for _, field := range table.Fields {
		columns = append(columns, quote(field.Name))
	}
	return fmt.Sprintf("INSERT INTO %s (%s) VALUES (?%s)", t.name(table.Name), strings.Join(columns, ", "), strings.Repeat(", ?", len(columns)-1))
}

// name is a table of the keyspace.
func (t *Cassandra) name(table string) string { return quote(t.keyspace) + "." + quote(table) }

// quote keeps the case of a name, and takes words of the language as names.
func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// failureOf converts an error of the driver to a failure.
func failureOf(err error) *system.Failure {
	failure := &system.Failure{Kind: system.Connection, Message: lines.Steady(err.Error())}
	var refusal gocql.RequestError
	var waited net.Error
	switch {
	case errors.Is(err, gocql.ErrTimeoutNoResponse), errors.As(err, &waited) && waited.Timeout():
		failure.Kind, failure.Message = system.Timeout, "no complete answer within --timeout"
	case errors.As(err, &refusal):
		failure.Status = refusal.Code()
		switch refusal.Code() {
		case gocql.ErrCodeOverloaded, gocql.ErrCodeUnavailable, gocql.ErrCodeBootstrapping,
			gocql.ErrCodeWriteTimeout, gocql.ErrCodeReadTimeout, gocql.ErrCodeWriteFailure:
			failure.Kind = system.Server
		default:
			failure.Kind = system.Refused
		}
	}
	return failure
}
