package query_test

import (
	"bytes"
	"context"
	"strings"
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
		`{"tags":{"hostname":"host_2"},"values":[["1970-01-01T00:00:00.000000002Z",1.5],["1970-01-01T00:00:00.000000001Z",2]]},{"tags":{"hostname":"host_10"},"values":[["1970-01-01T00:00:00.000000001Z",3],["1970-01-01T00:00:00.000000002Z",null]]}]}]}`
	server := double.New(t, func(double.Request) (int, string) { return 200, body })
	var out bytes.Buffer
	asked, failed := query.Answers(context.Background(), []spec.Query{
		{ID: 4, Type: "groupby", GroupByHost: true}, {ID: 5, Type: "1-host-1-hr"},
	}, []spec.Query{{ID: 9}}, influx.New(server.Address, "db", time.Second), event.NewWriter(&out))
	if asked != 3 || failed != 0 {
		t.Errorf("%d asked, %d failed", asked, failed)
	}
	want := `{"v":1,"type":"answer","id":4,"query_type":"groupby","columns":["time_ns","host","value"],"rows":[[1,"host_10",3],[1,"host_2",2],[2,"host_2",1.5]]}
{"v":1,"type":"answer","id":5,"query_type":"1-host-1-hr","columns":["time_ns","host","value"],"rows":[[1,null,3],[1,null,2],[2,null,1.5]]}
`
	answers, digests, _ := strings.Cut(out.String(), `{"v":1,"type":"answered"`)
	if answers != want {
		t.Errorf("the events are\n%s\nwant\n%s", answers, want)
	}
	for _, id := range []string{"4", "5", "9"} {
		if !strings.Contains(digests, `{"id":`+id+`,"answers":1,"numbers":`) {
			t.Errorf("no digest of query %s in %s", id, digests)
		}
	}
}
