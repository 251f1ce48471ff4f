package influx

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"benchbook/benchload/query/spec"
	"benchbook/benchload/system"
	"benchbook/benchload/target"
	"benchbook/benchload/target/wire"
)

// against makes a target of a server that answers with this status and body.
func against(t *testing.T, status int, body string) *Influx {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(server.Close)
	address, err := wire.ParseAddress(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	return New(address, "db", 5*time.Second)
}

func TestWritesCountOnlyWhenAcknowledged(t *testing.T) {
	for _, c := range []struct {
		name    string
		status  int
		body    string
		kind    system.FailureKind // empty for success
		refused int64
		words   string
	}{
		{"acknowledged", 204, "", "", 0, ""},
		{"acknowledged with white space", 200, "\n", "", 0, ""},
		{"acknowledged with an empty result", 200, `{"results":[]}`, "", 0, ""},
		{"success with an error", 200, `{"error":"engine is closed"}`, system.BadAnswer, 10, "engine is closed"},
		{"success with words", 200, `error: no space left`, system.BadAnswer, 10, "no space left"},
		{"a part", 400, `{"error":"partial write: points beyond retention policy dropped=3"}`, system.Refused, 3, "retention policy"},
		{"a part of unknown size", 400, `{"error":"partial write: unable to parse 'x y z': bad timestamp"}`, system.Refused, 10, "unable to parse '…': bad timestamp"},
		{"wrong", 400, `{"error":"unable to parse 'cpu': missing fields"}`, system.Refused, 10, "missing fields"},
		{"too large", 413, `{"error":"Request Entity Too Large"}`, system.Refused, 10, "Too Large"},
		{"no database", 404, `{"error":"database not found: \"db\""}`, system.Refused, 10, "database not found"},
		{"too fast", 429, `slow down`, system.Server, 10, "slow down"},
		{"broken", 500, `{"error":"timeout"}`, system.Server, 10, "timeout"},
	} {
		t.Run(c.name, func(t *testing.T) {
			client, _ := against(t, c.status, c.body).Connect()
			defer client.Close()
			failure := system.AsFailure(client.Write(target.Batch{Rows: 10, Bytes: []byte("cpu a=1 1\n")}))
			if failure == nil {
				if c.kind != "" {
					t.Fatal("it is taken for success")
				}
				return
			}
			if failure.Kind != c.kind || failure.Refused != c.refused || !strings.Contains(failure.Message, c.words) {
				t.Errorf("the failure is %+v", failure)
			}
		})
	}
}

func TestAnswersWithErrorsAreFailures(t *testing.T) {
	for _, c := range []struct {
		name, body string
		status     int
		kind       system.FailureKind
	}{
		{"rows", `{"results":[{"statement_id":0,"series":[]}]}`, 200, ""},
		{"an error in a result", `{"results":[{"statement_id":0,"error":"database not found: db"}]}`, 200, system.BadAnswer},
		{"an error at the top", `{"error":"timeout reached"}`, 200, system.BadAnswer},
		{"the word as a name of a column", `{"results":[{"series":[{"columns":["time","error"],"values":[]}]}]}`, 200, ""},
		{"something else", `<html>login</html>`, 200, system.BadAnswer},
		{"cut off", `{"results":[{"statement_id":0,"series":[`, 200, system.BadAnswer},
		{"wrong", `{"error":"error parsing query"}`, 400, system.Refused},
		{"busy", `{"error":"max-concurrent-queries limit exceeded"}`, 503, system.Server},
	} {
		t.Run(c.name, func(t *testing.T) {
			client, _ := against(t, c.status, c.body).Connect()
			defer client.Close()
			_, err := client.Query([]byte("/query?q=x"))
			if failure := system.AsFailure(err); failure == nil && c.kind != "" || failure != nil && failure.Kind != c.kind {
				t.Errorf("the failure is %+v, want the kind %q", failure, c.kind)
			}
		})
	}
}

func TestHoldsSeesData(t *testing.T) {
	if holds, err := against(t, 200, `{"results":[{"statement_id":0}]}`).Holds(); holds || err != nil {
		t.Errorf("an empty database holds data: %v, error %v", holds, err)
	}
	if holds, err := against(t, 200, `{"results":[{"series":[{"name":"measurements","values":[["cpu"]]}]}]}`).Holds(); !holds || err != nil {
		t.Errorf("a full database holds no data: %v, error %v", holds, err)
	}
	if _, err := against(t, 200, `{"results":[{"error":"not allowed"}]}`).Holds(); err == nil {
		t.Error("an error is taken for an empty database")
	}
}

func TestStatementsAreThoseOfTheSuite(t *testing.T) {
	q := spec.Query{
		Table: "cpu", Field: "usage_user", Aggregate: "max", BucketNS: 60e9,
		Hosts: []string{"host_3"}, StartNS: 1451606400_000000001, EndNS: 1451610000_000000001,
	}
	for want, change := range map[string]func(*spec.Query){
		"SELECT max(usage_user) from cpu where (hostname = 'host_3') and time >= '2016-01-01T00:00:00.000000001Z' and time < '2016-01-01T01:00:00.000000001Z' group by time(1m)":                        func(*spec.Query) {},
		"SELECT max(usage_user) from cpu where (hostname = 'host_3' or hostname = 'host_4') and time >= '2016-01-01T00:00:00.000000001Z' and time < '2016-01-01T01:00:00.000000001Z' group by time(1m)": func(q *spec.Query) { q.Hosts = []string{"host_3", "host_4"} },
		"SELECT mean(usage_user) from cpu where time >= '2016-01-01T00:00:00.000000001Z' and time < '2016-01-01T01:00:00.000000001Z' group by time(1h),hostname":                                        func(q *spec.Query) { q.Hosts, q.GroupByHost, q.BucketNS, q.Aggregate = nil, true, 3600e9, "mean" },
	} {
		changed := q
		change(&changed)
		if got := Statement(changed); got != want {
			t.Errorf("the statement is\n%s\nwant\n%s", got, want)
		}
	}
}

func TestRowsLeaveEmptyBucketsOut(t *testing.T) {
	body := `{"results":[{"series":[{"name":"cpu","tags":{"hostname":"host_1"},"columns":["time","max"],` +
		`"values":[["2016-01-01T00:00:00.000000001Z",1.5],["2016-01-01T00:01:00Z",null],["2016-01-01T00:02:00Z",2]]}]}]}`
	rows, err := new(Influx).Rows(spec.Query{}, []byte(body))
	if err != nil || len(rows) != 2 || rows[0] != (target.Row{TimeNS: 1451606400000000001, Host: "host_1", Value: 1.5}) {
		t.Errorf("the rows are %+v, error %v", rows, err)
	}
}

func FuzzRows(f *testing.F) {
	f.Add(`{"results":[{"series":[{"name":"cpu","columns":["time","max"],"values":[["2016-01-01T00:00:00Z",2.5],["2016-01-01T00:01:00Z",null]]}]}]}`)
	f.Add(`{"error":"x"}`)
	f.Add(`{"results":[{"series":[{"values":[[1],["a","b"],[1e400,1]]}]}]}`)
	f.Fuzz(func(t *testing.T, body string) {
		rows, err := new(Influx).Rows(spec.Query{}, []byte(body))
		if err != nil && rows != nil {
			t.Error("there are rows beside an error")
		}
	})
}
