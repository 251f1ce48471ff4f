package cassandra

import (
	"testing"
	"time"

	"benchbook/benchload/dataset"
	"benchbook/benchload/query/spec"
	"benchbook/benchload/system"
	"benchbook/benchload/target"
)

func TestStatements(t *testing.T) {
	tested := New("cassandra://127.0.0.1:9042", "ks", "", time.Second)
	table := &dataset.Table{Name: "cpu", Tags: []string{"hostname", "region"}, Fields: []dataset.Field{{Name: "a"}, {Name: "b", Kind: dataset.Decimal}}}
	for got, want := range map[string]string{
		tested.create(table): `CREATE TABLE IF NOT EXISTS "ks"."cpu" ("time" timestamp, "hostname" text, "region" text, "a" bigint, "b" double, PRIMARY KEY (("hostname"), "time"))`,
		tested.insert(table): `INSERT INTO "ks"."cpu" ("time", "hostname", "region", "a", "b") VALUES (?, ?, ?, ?, ?)`,
	} {
		if got != want {
			t.Errorf("the statement is\n%s\nwant\n%s", got, want)
		}
	}
	q := spec.Query{Table: "cpu", Field: "a", Aggregate: "max", BucketNS: 60e9, Hosts: []string{"h1", "h2"}, StartNS: 1, EndNS: 2_000_000}
	want := "-\n" + `SELECT hostname, floor("time", 60s), max("a") FROM "ks"."cpu" WHERE hostname IN ('h1', 'h2') AND "time" >= 1 AND "time" < 2 GROUP BY hostname, floor("time", 60s)`
	if got, err := tested.Text(q); string(got) != want || err != nil {
		t.Errorf("the query is\n%s\nwant\n%s (%v)", got, want, err)
	}
	q.Aggregate = "mean"
	if _, err := tested.Text(q); err == nil {
		t.Error("a mean over partitions is rendered")
	}
}

func TestTheGreatestOfAllHostsIsTaken(t *testing.T) {
	rows := greatest([]target.Row{{TimeNS: 1, Host: "a", Value: 2}, {TimeNS: 2, Host: "a", Value: 1}, {TimeNS: 1, Host: "b", Value: 3}})
	if len(rows) != 2 || rows[0] != (target.Row{TimeNS: 1, Value: 3}) || rows[1] != (target.Row{TimeNS: 2, Value: 1}) {
		t.Errorf("the rows are %+v", rows)
	}
}

func TestAServerThatIsGoneIsAFailureOfTheConnection(t *testing.T) {
	_, err := New("cassandra://127.0.0.1:1", "ks", "", 500*time.Millisecond).Holds()
	if failure := system.AsFailure(err); failure == nil || failure.Kind != system.Connection {
		t.Errorf("the failure is %+v", failure)
	}
}
