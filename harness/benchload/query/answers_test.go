package query_test

import (
	"bytes"
	"context"
	"testing"
	"time"

	"benchbook/benchload/event"
	"benchbook/benchload/query"
	"benchbook/benchload/query/spec"
	"benchbook/benchload/target/double"
	"benchbook/benchload/target/influx"
)

func TestAnswersAreNormalised(t *testing.T) {
	body := `{"results":[{"series":[` +
		`{"tags":{"hostname":"host_2"},"values":[[2,1.5],[1,2]]},{"tags":{"hostname":"host_10"},"values":[[1,3],[2,null]]}]}]}`
	server := double.New(t, func(double.Request) (int, string) { return 200, body })
	var out bytes.Buffer
	asked, failed := query.Answers(context.Background(), []spec.Query{
		{ID: 4, Type: "groupby", GroupByHost: true}, {ID: 5, Type: "1-host-1-hr"},
	}, influx.New(server.Address, "db", time.Second), event.NewWriter(&out))
	if asked != 2 || failed != 0 {
		t.Errorf("%d asked, %d failed", asked, failed)
	}
	want := `{"v":1,"type":"answer","id":4,"query_type":"groupby","columns":["time_ns","host","value"],"rows":[[1,"host_10",3],[1,"host_2",2],[2,"host_2",1.5]]}
{"v":1,"type":"answer","id":5,"query_type":"1-host-1-hr","columns":["time_ns","host","value"],"rows":[[1,null,3],[1,null,2],[2,null,1.5]]}
`
	if out.String() != want {
		t.Errorf("the events are\n%s\nwant\n%s", out.String(), want)
	}
}
