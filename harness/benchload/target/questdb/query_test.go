package questdb

import (
	"testing"

	"benchbook/benchload/query/spec"
	"benchbook/benchload/target"
)

func TestStatement(t *testing.T) {
	q := spec.Query{Table: "cpu", Field: "usage_user", Aggregate: "mean", BucketNS: 3600e9, StartNS: 1451606400e9, EndNS: 1451610000e9, GroupByHost: true}
	const want = "SELECT timestamp, hostname, avg(usage_user) FROM cpu WHERE timestamp >= '2016-01-01T00:00:00.000000Z' AND " +
		"timestamp < '2016-01-01T01:00:00.000000Z' SAMPLE BY 3600s ALIGN TO CALENDAR"
	if got, err := Statement(q); got != want || err != nil {
		t.Errorf("the statement is\n%s\nwant\n%s (%v)", got, want, err)
	}
}

func TestAnswersBecomeRows(t *testing.T) {
	body := `{"dataset":[["2016-01-01T00:00:00.000000Z","host_1",1.5],["2016-01-01T01:00:00.000000Z","host_1",null]]}`
	rows, err := new(QuestDB).Rows(spec.Query{GroupByHost: true}, []byte(body))
	if err != nil || len(rows) != 1 || rows[0] != (target.Row{TimeNS: 1451606400e9, Host: "host_1", Value: 1.5}) {
		t.Errorf("the rows are %+v, error %v", rows, err)
	}
	if _, err := new(QuestDB).Rows(spec.Query{}, []byte(body)); err == nil {
		t.Error("three columns are taken for two")
	}
}

func FuzzRows(f *testing.F) {
	f.Add(`{"dataset":[["2016-01-01T00:00:00.000000Z",1.5]]}`)
	f.Fuzz(func(t *testing.T, body string) {
		if rows, err := new(QuestDB).Rows(spec.Query{}, []byte(body)); err != nil && rows != nil {
			t.Error("there are rows beside an error")
		}
	})
}
