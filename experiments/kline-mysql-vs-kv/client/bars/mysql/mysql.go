// Package mysql keeps bars in MySQL and MariaDB, in the published table: hash
// partitions by stock, and the primary key (stock_name, date_time).
package mysql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log"
	"strings"
	"time"

	driver "github.com/go-sql-driver/mysql"

	"benchbook/benchload/system"
	"benchbook/experiments/kline-mysql-vs-kv/client/bars"
)

// columns of the published table, in its order.
const columns = "stock_name, date_time, open, close, high, low, volume, amount, turn"

// table creates the published table; its number of partitions follows the size of the
// data.
const table = `CREATE TABLE finance (
  stock_name SMALLINT UNSIGNED NOT NULL,
  date_time DATETIME NOT NULL,
  open MEDIUMINT UNSIGNED NOT NULL,
  close MEDIUMINT UNSIGNED NOT NULL,
  high MEDIUMINT UNSIGNED NOT NULL,
  low MEDIUMINT UNSIGNED NOT NULL,
  volume INT UNSIGNED NOT NULL,
  amount INT UNSIGNED NOT NULL,
  turn SMALLINT UNSIGNED NOT NULL,
  PRIMARY KEY (stock_name, date_time)
) PARTITION BY HASH(stock_name) PARTITIONS %d`

// read is the published query.
const read = "SELECT " + columns + " FROM finance WHERE stock_name = ? AND date_time BETWEEN ? AND ?"

// Store is one database of a server.
type Store struct {
	config     *driver.Config
	partitions int64
}

// New creates a store; address is HOST:PORT.
func New(address, database, user, password string, timeout time.Duration, partitions int64) *Store {
	_ = driver.SetLogger(log.New(io.Discard, "", 0)) // failures are events, not lines of a log
	config := driver.NewConfig()
	config.Net, config.Addr, config.DBName = "tcp", address, database
	config.User, config.Passwd = user, password
	config.Timeout, config.ReadTimeout, config.WriteTimeout = timeout, timeout, timeout
	config.AllowNativePasswords = true
	return &Store{config, partitions}
}

// Name returns the name of the kind of system.
func (s *Store) Name() string { return "mysql" }

// Prepare creates the table.
func (s *Store) Prepare() error {
	connector, err := driver.NewConnector(s.config)
	if err != nil {
		return err
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	ctx, stop := context.WithTimeout(context.Background(), s.config.ReadTimeout)
	defer stop()
	_, err = db.ExecContext(ctx, fmt.Sprintf(table, s.partitions))
	if failure := (*driver.MySQLError)(nil); errors.As(err, &failure) && failure.Number == tableExists {
		return &system.Failure{Kind: system.NotEmpty, Message: "the database " + s.config.DBName + " holds the table finance already; drop it, or name another with --database"}
	}
	return failureOf(err)
}

// Connect creates a client.
func (s *Store) Connect() (bars.Conn, error) {
	ctx, stop := context.WithCancel(context.Background())
	return &client{store: s, ctx: ctx, stop: stop}, nil
}

// Error numbers with a special kind of failure.
const (
	tableExists = 1050
	readOnly    = 1290
	tooMany     = 1040
	lockTimeout = 1205
	deadlock    = 1213
)

// failureOf converts an error to a failure.
func failureOf(err error) error {
	if err == nil {
		return nil
	}
	if failure := (*driver.MySQLError)(nil); errors.As(err, &failure) {
		kind := system.Refused
		switch failure.Number {
		case tooMany, lockTimeout, deadlock, readOnly:
			kind = system.Server
		}
		return &system.Failure{Kind: kind, Status: int(failure.Number), Message: failure.Message}
	}
	if errors.Is(err, context.DeadlineExceeded) || strings.Contains(err.Error(), "i/o timeout") {
		return &system.Failure{Kind: system.Timeout, Message: "no complete answer in time"}
	}
	return &system.Failure{Kind: system.Connection, Message: err.Error()}
}
