package victoriametrics

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"benchbook/benchload/query/spec"
	"benchbook/benchload/target/wire"
)

func TestWindowsHoldTheirBuckets(t *testing.T) {
	q := spec.Query{Table: "cpu", Field: "usage_user", Aggregate: "max", BucketNS: 60e9, Hosts: []string{"host_1", "host_2"},
		StartNS: 90e9, EndNS: 210e9}
	text, err := New(wire.Address{}, "db", "", time.Second).Text(q)
	paths := strings.Split(string(text), "\n")
	if err != nil || len(paths) != 3 {
		t.Fatalf("the requests are %s, error %v", text, err)
	}
	for i, want := range []map[string]string{
		{"time": "119.999", "query": `max(max_over_time(cpu_usage_user{db="db",hostname=~"host_1|host_2"}[30000ms]))`},
		{"start": "179.999", "end": "179.999", "step": "60000ms"},
		{"time": "209.999"},
	} {
		_, asked, _ := strings.Cut(paths[i], "?")
		values, _ := url.ParseQuery(asked)
		for name, value := range want {
			if values.Get(name) != value {
				t.Errorf("request %d has %s=%s, want %s", i, name, values.Get(name), value)
			}
		}
	}
	answer := `{"status":"success","data":{"result":[{"metric":{},"value":[119.999,"1.5"]}]}}` + "\n" +
		`{"status":"success","data":{"result":[{"metric":{},"values":[[179.999,"2.5"]]}]}}` + "\n" + `{"status":"success","data":{"result":[]}}`
	rows, err := new(VictoriaMetrics).Rows(q, []byte(answer))
	if err != nil || len(rows) != 2 || rows[0].TimeNS != 60e9 || rows[1].TimeNS != 120e9 || rows[1].Value != 2.5 {
		t.Errorf("the rows are %+v, error %v", rows, err)
	}
}
