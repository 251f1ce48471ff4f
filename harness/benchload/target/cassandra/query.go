package cassandra

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gocql/gocql"

	"benchbook/benchload/query/spec"
	"benchbook/benchload/target"
	"benchbook/benchload/target/tabular"
)

// millisecond is the unit of its times.
const millisecond = 1_000_000

// Text returns the query in CQL. Its groups are within one partition, so the answer
// has a row for each host, of which the client takes the greatest where the query
// is about all of its hosts.
func (t *Cassandra) Text(query spec.Query) ([]byte, error) {
	if query.Form != "" {
		return nil, errors.New("the queries of the iot use case are not rendered for cassandra")
	}
	if query.Aggregate == "mean" && !query.GroupByHost && len(query.Hosts) != 1 {
		return nil, errors.New("cassandra has no mean over the rows of several partitions")
	}
	if query.BucketNS%1e9 != 0 {
		return nil, errors.New("cassandra has no buckets of parts of a second here")
	}
	function := map[string]string{"max": "max", "mean": "avg"}[query.Aggregate]
	start, end := query.Within(millisecond)
	bucket := fmt.Sprintf(`floor("time", %ds)`, query.BucketNS/1e9)
	where := fmt.Sprintf(`"time" >= %d AND "time" < %d`, start, end)
	filtering := " ALLOW FILTERING" // all partitions are read
	if len(query.Hosts) > 0 {
		where = fmt.Sprintf("hostname IN ('%s') AND %s", strings.Join(query.Hosts, "', '"), where)
		filtering = ""
	}
	by := "-"
	if query.GroupByHost {
		by = "hostname"
	}
	return fmt.Appendf(nil, "%s\nSELECT hostname, %s, %s(%s) FROM %s WHERE %s GROUP BY hostname, %s%s",
		by, bucket, function, quote(query.Field), t.name(query.Table), where, bucket, filtering), nil
}

// pageRows is how many rows come at once; more than any query of the suite gives to one host.
const pageRows = 5000

// Query sends a query and reads the whole answer.
func (c *client) Query(text []byte) (target.Answer, error) {
	session, err := c.target.open()
	if err != nil {
		return target.Answer{}, err
	}
	by, statement, _ := strings.Cut(string(text), "\n")
	found := session.Query(statement).WithContext(c.ctx).PageSize(pageRows).Iter()
	var rows []target.Row
	var host string
	var bucket time.Time
	var value float64
	for found.Scan(&host, &bucket, &value) {
		rows = append(rows, target.Row{TimeNS: bucket.UnixNano(), Host: host, Value: value})
	}
	if err := found.Close(); err != nil {
		return target.Answer{}, failureOf(err)
	}
	if by != "hostname" {
		rows = greatest(rows)
	}
	var body []byte
	for _, row := range rows {
		body = tabular.Append(body, row)
	}
	return target.Answer{Body: body, Bytes: int64(len(body)), Done: time.Now()}, nil
}

// greatest takes the greatest value of each bucket over all hosts.
func greatest(rows []target.Row) []target.Row {
	place := map[int64]int{}
	var kept []target.Row
	for _, row := range rows {
		row.Host = ""
		if at, known := place[row.TimeNS]; !known {
			place[row.TimeNS] = len(kept)
			kept = append(kept, row)
		} else if row.Value > kept[at].Value {
			kept[at] = row
		}
	}
	return kept
}

// Rows reads an answer.
func (t *Cassandra) Rows(_ spec.Query, body []byte) ([]target.Row, error) { return tabular.Rows(body) }

// Version returns the version that the server reports.
func (t *Cassandra) Version() (string, error) {
	session, err := t.open()
	if err != nil {
		return "", err
	}
	var version string
	if err := session.Query("SELECT release_version FROM system.local").Scan(&version); err != nil {
		return "", failureOf(err)
	}
	return version, nil
}

// columns are the number columns of each table of the keyspace.
func (t *Cassandra) columns(session *gocql.Session) (map[string][]string, error) {
	found := session.Query("SELECT table_name, column_name, type FROM system_schema.columns WHERE keyspace_name = ?", t.keyspace).Iter()
	columns := map[string][]string{}
	var table, column, kind string
	for found.Scan(&table, &column, &kind) {
		if kind == "double" || kind == "bigint" {
			columns[table] = append(columns[table], column)
		}
	}
	if err := found.Close(); err != nil {
		return nil, failureOf(err)
	}
	return columns, nil
}

// Count counts the rows and values of every table.
func (t *Cassandra) Count() (map[string]target.Count, error) {
	session, err := t.open()
	if err != nil {
		return nil, err
	}
	tables, err := t.columns(session)
	if err != nil {
		return nil, err
	}
	counts := map[string]target.Count{}
	for table, columns := range tables {
		counted := []string{"count(*)"}
		for _, column := range columns {
			counted = append(counted, "count("+quote(column)+")")
		}
		numbers := make([]int64, len(counted))
		into := make([]any, len(counted))
		for i := range numbers {
			into[i] = &numbers[i]
		}
		if err := session.Query("SELECT " + strings.Join(counted, ", ") + " FROM " + t.name(table)).Scan(into...); err != nil {
			return nil, failureOf(err)
		}
		count := target.Count{Rows: numbers[0], Values: map[string]int64{}}
		for i, column := range columns {
			count.Values[column] = numbers[1+i]
		}
		counts[table] = count
	}
	return counts, nil
}
