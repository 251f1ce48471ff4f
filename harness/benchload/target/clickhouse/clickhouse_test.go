package clickhouse

import (
	"strings"
	"testing"
	"time"

	"benchbook/benchload/dataset"
	"benchbook/benchload/dataset/devops"
	"benchbook/benchload/query/spec"
	"benchbook/benchload/stream"
	"benchbook/benchload/target"
	"benchbook/benchload/target/double"
)

func TestABatchIsARequestForEachTable(t *testing.T) {
	server := double.New(t, func(double.Request) (int, string) { return 200, "" })
	tested := New(server.Address, "db", "", time.Second)
	extent := dataset.Extent{Seed: 1, Scale: 1, Start: 1451606400e9, End: 1451606410e9, Interval: 10e9,
		WindowStart: 1451606400e9, WindowEnd: 1451606410e9, SeriesCount: 1}
	generator := devops.New(extent)
	made, err := tested.Format(generator)
	if err != nil {
		t.Fatal(err)
	}
	s := stream.New(generator, made, stream.Options{PieceRows: 100})
	defer s.Close()
	piece, _ := s.Next()
	client, _ := tested.Connect()
	defer client.Close()
	if err := client.Write(target.Batch{Rows: piece.Rows, Bytes: piece.Bytes}); err != nil {
		t.Fatal(err)
	}
	for i := range generator.Tables() {
		if got := server.Seen(i); !strings.Contains(got.Query, "RowBinary") || len(got.Body) == 0 {
			t.Errorf("request %d is %+v", i, got)
		}
	}
}

func TestStatement(t *testing.T) {
	q := spec.Query{Table: "cpu", Field: "usage_user", Aggregate: "max", BucketNS: 60e9, Hosts: []string{"host_1"}, StartNS: 1, EndNS: 2}
	const want = "SELECT intDiv(`time`, 60000000000) * 60000000000 AS bucket, '', max(`usage_user`) FROM `db`.`cpu` " +
		"WHERE hostname IN ('host_1') AND `time` >= 1 AND `time` < 2 GROUP BY bucket"
	tested := &ClickHouse{database: "db"}
	if got, err := tested.Text(q); string(got) != want || err != nil {
		t.Errorf("the statement is\n%s\nwant\n%s (%v)", got, want, err)
	}
}
