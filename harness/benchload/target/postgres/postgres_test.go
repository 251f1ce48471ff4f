package postgres

import (
	"bytes"
	"testing"

	"benchbook/benchload/dataset"
	"benchbook/benchload/dataset/devops"
	"benchbook/benchload/format"
	"benchbook/benchload/postgres"
	"benchbook/benchload/query/spec"
	"benchbook/benchload/stream"
	"benchbook/benchload/system"
)

func TestTuplesAreThoseOfTheFormat(t *testing.T) {
	extent := dataset.Extent{Seed: 1, Scale: 3, Start: 1451606400e9, End: 1451606430e9, Interval: 10e9,
		WindowStart: 1451606400e9, WindowEnd: 1451606430e9, SeriesCount: 3, Table: "redis"}
	generator := devops.New(extent)
	all := func(f format.Format) []byte {
		s := stream.New(generator, f, stream.Options{PieceRows: 100})
		defer s.Close()
		piece, _ := s.Next()
		return piece.Bytes
	}
	rows := format.NewRows(generator)
	cursor := rows.Cursor()
	cursor.Reset(all(rows))
	var made []byte
	for cursor.Next() {
		made = appendTuple(made, cursor)
	}
	if want := all(format.NewPostgres(generator)); len(made) == 0 || !bytes.Equal(made, want) {
		t.Errorf("the tuples have %d bytes, those of the format %d, or they differ", len(made), len(want))
	}
	if !bytes.Equal([]byte(header), format.NewPostgres(generator).Header()) {
		t.Error("the headers differ")
	}
}

func TestStatements(t *testing.T) {
	tested, err := New(system.Place{URL: postgres.Example, Database: "db"})
	if err != nil {
		t.Fatal(err)
	}
	q := spec.Query{Table: "cpu", Field: "usage_user", Aggregate: "mean", BucketNS: 3600e9, StartNS: 1451606400e9 + 1, EndNS: 1451610000e9, GroupByHost: true}
	const want = `SELECT date_bin('3600000000 microseconds', "time", TIMESTAMPTZ '1970-01-01 00:00:00Z') AS bucket, hostname, avg("usage_user") FROM "cpu" ` +
		`WHERE "time" >= '2016-01-01 00:00:00.000001Z' AND "time" < '2016-01-01 01:00:00Z' GROUP BY bucket, hostname ORDER BY bucket, hostname`
	if got, err := tested.Text(q); string(got) != want || err != nil {
		t.Errorf("the statement is\n%s\nwant\n%s (%v)", got, want, err)
	}
}
