package drive_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"benchbook/benchload/drive"
	"benchbook/benchload/event"
	"benchbook/benchload/measure"
	"benchbook/benchload/query/spec"
	"benchbook/benchload/target"
	"benchbook/benchload/target/influx"
	"benchbook/benchload/target/wire"
)

const ok = `{"results":[{"statement_id":0,"series":[{"columns":["time","max"],"values":[[2,1.5],[1,2]]}]}]}`

// against makes a target of a handler.
func against(t *testing.T, handler http.HandlerFunc) target.Target {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	address, err := wire.ParseAddress(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	return influx.New(address, "db", time.Second)
}

func reply(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) }
}

// driven runs queries and gives the summary and the histograms by their kind.
func driven(t *testing.T, system target.Target, queries int, options drive.Options) (event.Summary, map[string]event.Histogram, []event.Error) {
	t.Helper()
	texts := make([][]byte, queries)
	for i := range texts {
		texts[i] = []byte("/query?q=x")
	}
	var out bytes.Buffer
	run := measure.NewRun(event.NewWriter(&out), "query", options.Workers, options.Rate > 0)
	run.Start()
	drive.Run(context.Background(), texts, system, run, options)
	summary := run.Stop()
	histograms := map[string]event.Histogram{}
	var errors []event.Error
	for _, line := range bytes.Split(bytes.TrimSpace(out.Bytes()), []byte("\n")) {
		var head event.Head
		if err := json.Unmarshal(line, &head); err != nil {
			t.Fatal(err)
		}
		switch head.Type {
		case "histogram":
			var h event.Histogram
			_ = json.Unmarshal(line, &h)
			histograms[h.Kind] = h
		case "error":
			var e event.Error
			_ = json.Unmarshal(line, &e)
			errors = append(errors, e)
		}
	}
	return summary, histograms, errors
}

func TestEachQueryIsAskedOnce(t *testing.T) {
	for _, workers := range []int{1, 7} {
		summary, histograms, _ := driven(t, against(t, reply(ok)), 100, drive.Options{Workers: workers})
		if summary.Operations != 100 || summary.Errors != 0 || histograms["service"].Count != 100 || summary.Bytes != int64(100*len(ok)) {
			t.Errorf("with %d workers the summary is %+v", workers, summary)
		}
		if _, open := histograms["response"]; open {
			t.Error("a closed loop has response times")
		}
	}
}

func TestErrorsInBodiesAreNoSuccess(t *testing.T) {
	summary, histograms, errors := driven(t, against(t, reply(`{"results":[{"error":"database not found: db"}]}`)), 20, drive.Options{Workers: 2})
	if summary.Operations != 0 || summary.Errors != 20 || histograms["service"].Count != 0 {
		t.Errorf("the summary is %+v", summary)
	}
	if len(errors) != 1 || errors[0].Kind != "answer" || errors[0].Operations != 20 {
		t.Errorf("the errors are %+v", errors)
	}
}

func TestServiceTimesAreThoseOfTheServer(t *testing.T) {
	const sleep = 20 * time.Millisecond
	system := against(t, func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(sleep)
		reply(ok)(w, r)
	})
	_, histograms, _ := driven(t, system, 10, drive.Options{Workers: 2})
	if h := histograms["service"]; h.MinNS < int64(sleep) || h.MeanNS > float64(10*sleep) {
		t.Errorf("from %d ns, mean %.0f ns, with a server that sleeps %s", h.MinNS, h.MeanNS, sleep)
	}
}

func TestAnOpenLoopSeesAStall(t *testing.T) {
	// One stall of 300 ms in a run of 600 ms at 200 a second, one worker: sixty
	// queries are late, but only one was slow.
	var once sync.Once
	system := against(t, func(w http.ResponseWriter, r *http.Request) {
		once.Do(func() { time.Sleep(300 * time.Millisecond) })
		reply(ok)(w, r)
	})
	summary, histograms, _ := driven(t, system, 1, drive.Options{Workers: 1, Rate: 200, Duration: 600 * time.Millisecond})
	if summary.Operations != 120 {
		t.Errorf("%d queries were asked, want 120", summary.Operations)
	}
	service, response := histograms["service"], histograms["response"]
	if response.Count != 120 || service.MaxNS < 300e6 || response.MaxNS < service.MaxNS {
		t.Errorf("service up to %d ns, response up to %d ns", service.MaxNS, response.MaxNS)
	}
	// The mean wait of the sixty is 150 ms, which is 75 ms over all.
	if response.MeanNS < 50e6 || response.MeanNS < 5*service.MeanNS {
		t.Errorf("the mean response is %.0f ns, the mean service %.0f ns: the stall is not seen", response.MeanNS, service.MeanNS)
	}
}

func TestPoissonArrivalsHaveTheRate(t *testing.T) {
	summary, _, _ := driven(t, against(t, reply(ok)), 10, drive.Options{
		Workers: 4, Rate: 2000, Poisson: true, Duration: 300 * time.Millisecond, Seed: 1,
	})
	if summary.Operations < 500 || summary.Operations > 700 {
		t.Errorf("%d queries were asked, want about 600", summary.Operations)
	}
}

func TestADurationAsksAgainAndAgain(t *testing.T) {
	summary, _, _ := driven(t, against(t, reply(ok)), 3, drive.Options{Workers: 2, Duration: 100 * time.Millisecond})
	if summary.Operations < 10 || summary.DurationNS < 100e6 {
		t.Errorf("the summary is %+v", summary)
	}
}

func TestAServerThatIsGoneEndsTheRun(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	address, _ := wire.ParseAddress(server.URL)
	summary, _, errors := driven(t, influx.New(address, "db", time.Second), 1000, drive.Options{Workers: 2})
	if summary.Errors > 10 || len(errors) == 0 || errors[0].Kind != "connection" {
		t.Errorf("the summary is %+v, errors %+v", summary, errors)
	}
}

func TestAnswersAreNormalised(t *testing.T) {
	body := `{"results":[{"series":[` +
		`{"tags":{"hostname":"host_2"},"values":[[2,1.5],[1,2]]},{"tags":{"hostname":"host_10"},"values":[[1,3],[2,null]]}]}]}`
	var out bytes.Buffer
	asked, failed, err := drive.Answers(context.Background(), []spec.Query{
		{ID: 4, Type: "groupby", GroupByHost: true}, {ID: 5, Type: "1-host-1-hr"},
	}, against(t, reply(body)), event.NewWriter(&out))
	if asked != 2 || failed != 0 || err != nil {
		t.Errorf("%d asked, %d failed, error %v", asked, failed, err)
	}
	want := `{"v":1,"type":"answer","id":4,"query_type":"groupby","columns":["time_ns","host","value"],"rows":[[1,"host_10",3],[1,"host_2",2],[2,"host_2",1.5]]}
{"v":1,"type":"answer","id":5,"query_type":"1-host-1-hr","columns":["time_ns","host","value"],"rows":[[1,null,3],[1,null,2],[2,null,1.5]]}
`
	if out.String() != want {
		t.Errorf("the events are\n%s\nwant\n%s", out.String(), want)
	}
}
