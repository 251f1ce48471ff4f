package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"benchbook/benchload/postgres"
	"benchbook/benchload/query/spec"
	"benchbook/benchload/target"
	"benchbook/benchload/target/tabular"
)

// Text returns the query in SQL.
func (t *Postgres) Text(query spec.Query) ([]byte, error) {
	if query.Form != "" {
		return nil, errors.New("the queries of the iot use case are not rendered for postgres")
	}
	if query.BucketNS%microsecond != 0 {
		return nil, errors.New("postgres has no buckets that are finer than microseconds")
	}
	start, end := query.Within(microsecond)
	bucket := fmt.Sprintf(`date_bin('%d microseconds', "time", TIMESTAMPTZ '1970-01-01 00:00:00Z')`, query.BucketNS/microsecond)
	if t.hyper {
		bucket = fmt.Sprintf(`time_bucket(INTERVAL '%d microseconds', "time")`, query.BucketNS/microsecond)
	}
	where := fmt.Sprintf(`"time" >= '%s' AND "time" < '%s'`, moment(start), moment(end))
	if len(query.Hosts) > 0 {
		where = "hostname IN (" + quoted(query.Hosts) + ") AND " + where
	}
	function := map[string]string{"max": "max", "mean": "avg"}[query.Aggregate]
	if query.GroupByHost {
		return fmt.Appendf(nil, "SELECT %s AS bucket, hostname, %s(%s) FROM %s WHERE %s GROUP BY bucket, hostname ORDER BY bucket, hostname",
			bucket, function, postgres.Quote(query.Field), postgres.Quote(query.Table), where), nil
	}
	return fmt.Appendf(nil, "SELECT %s AS bucket, %s(%s) FROM %s WHERE %s GROUP BY bucket ORDER BY bucket",
		bucket, function, postgres.Quote(query.Field), postgres.Quote(query.Table), where), nil
}

// moment is a time in SQL.
func moment(us int64) string {
	return time.UnixMicro(us).UTC().Format("2006-01-02 15:04:05.999999Z07:00")
}

// Rows reads an answer.
func (t *Postgres) Rows(_ spec.Query, body []byte) ([]target.Row, error) { return tabular.Rows(body) }

// Version returns the version that the server reports.
func (t *Postgres) Version() (version string, err error) {
	err = t.server.Once(func(ctx context.Context, conn *pgx.Conn) error {
		return conn.QueryRow(ctx, "SHOW server_version").Scan(&version)
	})
	version, _, _ = strings.Cut(version, " ") // what the packager adds
	return version, err
}

// columns are the number columns of each table.
func columns(ctx context.Context, conn *pgx.Conn) (map[string][]string, error) {
	found, err := conn.Query(ctx, "SELECT table_name, column_name FROM information_schema.columns "+
		"WHERE table_schema = 'public' AND data_type IN ('double precision', 'bigint') ORDER BY ordinal_position")
	if err != nil {
		return nil, err
	}
	defer found.Close()
	columns := map[string][]string{}
	var table, column string
	for found.Next() {
		if err := found.Scan(&table, &column); err != nil {
			return nil, err
		}
		columns[table] = append(columns[table], column)
	}
	return columns, found.Err()
}

// Count counts the rows and values of every table.
func (t *Postgres) Count() (map[string]target.Count, error) {
	counts := map[string]target.Count{}
	err := t.server.Once(func(ctx context.Context, conn *pgx.Conn) error {
		tables, err := columns(ctx, conn)
		if err != nil {
			return err
		}
		for table, names := range tables {
			counted := []string{"count(*)"}
			for _, name := range names {
				counted = append(counted, "count("+postgres.Quote(name)+")")
			}
			numbers := make([]int64, len(counted))
			into := make([]any, len(counted))
			for i := range numbers {
				into[i] = &numbers[i]
			}
			if err := conn.QueryRow(ctx, "SELECT "+strings.Join(counted, ", ")+" FROM "+postgres.Quote(table)).Scan(into...); err != nil {
				return err
			}
			count := target.Count{Rows: numbers[0], Values: map[string]int64{}}
			for i, name := range names {
				count.Values[name] = numbers[1+i]
			}
			counts[table] = count
		}
		return nil
	})
	return counts, err
}
