package cnosdb

import (
	"strings"
	"testing"
	"time"

	"benchbook/benchload/query/spec"
	"benchbook/benchload/system"
	"benchbook/benchload/target"
	"benchbook/benchload/target/double"
)

// against makes a target of a server that answers like this.
func against(t *testing.T, status int, body string) (*CnosDB, *double.Server) {
	t.Helper()
	server := double.New(t, func(double.Request) (int, string) { return status, body })
	return New(server.Address, "my db", "", 5*time.Second), server
}

func TestWritesNameTheUserAndTheDatabase(t *testing.T) {
	tested, server := against(t, 200, "")
	client, _ := tested.Connect()
	defer client.Close()
	if err := client.Write(target.Batch{Rows: 1, Bytes: []byte("cpu a=1 1\n")}); err != nil {
		t.Fatal(err)
	}
	got := server.Seen(0)
	if got.Method != "POST" || got.Path != "/api/v1/write" || got.Query != "db=my+db" || got.User != "root:" || got.Body != "cpu a=1 1\n" {
		t.Errorf("the write is %+v", got)
	}
}

func TestAnUnknownDatabaseIsRefused(t *testing.T) {
	tested, _ := against(t, 422, `{"error_code":"010009","error_message":"Database not found: \"my db\""}`)
	client, _ := tested.Connect()
	defer client.Close()
	failure := system.AsFailure(client.Write(target.Batch{Rows: 7, Bytes: []byte("x")}))
	if failure == nil || failure.Kind != system.Refused || failure.Refused != 7 || !strings.Contains(failure.Message, "Database not found") {
		t.Errorf("the failure is %+v", failure)
	}
}

func TestQueriesAreSQLWithTheDatabase(t *testing.T) {
	tested, server := against(t, 200, "")
	client, _ := tested.Connect()
	defer client.Close()
	if _, err := client.Query([]byte("SELECT 1")); err != nil {
		t.Fatal(err)
	}
	got := server.Seen(0)
	if got.Method != "POST" || got.Path != "/api/v1/sql" || got.Query != "db=my+db" || got.User != "root:" ||
		got.Body != "SELECT 1" || got.Header.Get("Accept") != "application/json" {
		t.Errorf("the query is %+v", got)
	}
}

func TestAnErrorInASuccessIsAFailure(t *testing.T) {
	tested, _ := against(t, 200, `{"error_code":"010001","error_message":"Datafusion: no such table"}`)
	client, _ := tested.Connect()
	defer client.Close()
	_, err := client.Query([]byte("SELECT 1"))
	if failure := system.AsFailure(err); failure == nil || failure.Kind != system.BadAnswer || !strings.Contains(failure.Message, "no such table") {
		t.Errorf("the failure is %+v", failure)
	}
}

func TestHoldsMakesTheDatabaseAndLooksForTables(t *testing.T) {
	for tables, want := range map[string]bool{"": false, "[]\n": false, `[{"Table":"cpu"}]`: true} {
		server := double.New(t, func(r double.Request) (int, string) {
			if strings.HasPrefix(r.Body, "CREATE") {
				return 200, ""
			}
			return 200, tables
		})
		holds, err := New(server.Address, `d"b`, "u:p", time.Second).Holds()
		if err != nil || holds != want {
			t.Errorf("with the tables %q it holds data: %v, error %v", tables, holds, err)
		}
		create := server.Seen(0)
		if !strings.HasPrefix(create.Body, `CREATE DATABASE IF NOT EXISTS "d""b" WITH TTL '36500d'`) || create.User != "u:p" || create.Query != "" {
			t.Errorf("the database is made by %+v", create)
		}
	}
}

func TestStatements(t *testing.T) {
	q := spec.Query{
		Table: "cpu", Field: "usage_user", Aggregate: "max", BucketNS: 60e9,
		Hosts: []string{"host_3", "host_4"}, StartNS: 1451606400_000000001, EndNS: 1451610000_000000000,
	}
	const bin = "date_bin(INTERVAL '60 second', time, TIMESTAMP '1970-01-01T00:00:00Z')"
	const span = "time >= TIMESTAMP '2016-01-01T00:00:00.000000001Z' AND time < TIMESTAMP '2016-01-01T01:00:00Z'"
	want := "SELECT " + bin + " AS bucket, max(usage_user) AS value FROM cpu WHERE hostname IN ('host_3', 'host_4') AND " + span +
		" GROUP BY " + bin + " ORDER BY bucket"
	if got, err := Statement(q); err != nil || got != want {
		t.Errorf("the statement is\n%s\nwant\n%s (%v)", got, want, err)
	}
	q.Hosts, q.GroupByHost, q.Aggregate = nil, true, "mean"
	want = "SELECT " + bin + " AS bucket, hostname, avg(usage_user) AS value FROM cpu WHERE " + span +
		" GROUP BY " + bin + ", hostname ORDER BY bucket"
	if got, err := Statement(q); err != nil || got != want {
		t.Errorf("the statement is\n%s\nwant\n%s (%v)", got, want, err)
	}
	q.BucketNS = 1
	if _, err := Statement(q); err == nil {
		t.Error("a bucket of a nanosecond is rendered")
	}
}

func TestRows(t *testing.T) {
	rows, err := new(CnosDB).Rows(spec.Query{}, []byte(
		`[{"bucket":"2016-01-01T00:00:00","hostname":"host_1","value":1.5},{"bucket":"2016-01-01T00:01:00.000000000Z"},{"bucket":"2016-01-01 00:02:00","value":2}]`))
	if err != nil || len(rows) != 2 || rows[0] != (target.Row{TimeNS: 1451606400e9, Host: "host_1", Value: 1.5}) || rows[1].TimeNS != 1451606520e9 {
		t.Errorf("the rows are %+v, error %v", rows, err)
	}
	if rows, err := new(CnosDB).Rows(spec.Query{}, nil); rows != nil || err != nil {
		t.Errorf("an empty answer gives %v, %v", rows, err)
	}
}

func FuzzRows(f *testing.F) {
	f.Add(`[{"bucket":"2016-01-01T00:00:00","hostname":"host_1","value":1.5}]`)
	f.Add(`[{"value":1e999}]`)
	f.Add(`{"error_message":"x"}`)
	f.Fuzz(func(t *testing.T, body string) {
		if rows, err := new(CnosDB).Rows(spec.Query{}, []byte(body)); err != nil && rows != nil {
			t.Error("there are rows beside an error")
		}
		if failure := check(200, []byte(body)); failure != nil && failure.Message == "" {
			t.Error("a failure has no words")
		}
	})
}
