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
	"benchbook/benchload/query"
	"benchbook/benchload/query/spec"
	"benchbook/benchload/system"
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
func driven(t *testing.T, tested target.Target, queries int, pace drive.Pace) (event.Summary, map[string]event.Histogram, []event.Error) {
	t.Helper()
	texts := make([][]byte, queries)
	for i := range texts {
		texts[i] = []byte("/query?q=x")
	}
	var out bytes.Buffer
	run := measure.NewRun(event.NewWriter(&out), pace.Workers, pace.Rate > 0, "query")
	summary, _, err := query.Work(texts, query.NewSeen(make([]spec.Query, queries)), tested, pace).Run(context.Background(), run)
	if err != nil {
		t.Fatal(err)
	}
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
		summary, histograms, _ := driven(t, against(t, reply(ok)), 100, drive.Pace{Workers: workers})
		if summary.Operations != 100 || summary.Errors != 0 || histograms["service"].Count != 100 || summary.Bytes != int64(100*len(ok)) {
			t.Errorf("with %d workers the summary is %+v", workers, summary)
		}
		if _, open := histograms["response"]; open {
			t.Error("a closed loop has response times")
		}
	}
}

func TestErrorsInBodiesAreNoSuccess(t *testing.T) {
	summary, histograms, errors := driven(t, against(t, reply(`{"results":[{"error":"database not found: db"}]}`)), 20, drive.Pace{Workers: 2})
	if summary.Operations != 0 || summary.Errors != 20 || histograms["service"].Count != 0 {
		t.Errorf("the summary is %+v", summary)
	}
	if len(errors) != 1 || errors[0].Kind != "answer" || errors[0].Operations != 20 {
		t.Errorf("the errors are %+v", errors)
	}
}

func TestServiceTimesAreThoseOfTheServer(t *testing.T) {
	const sleep = 20 * time.Millisecond
	tested := against(t, func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(sleep)
		reply(ok)(w, r)
	})
	_, histograms, _ := driven(t, tested, 10, drive.Pace{Workers: 2})
	if h := histograms["service"]; h.MinNS < int64(sleep) || h.MeanNS > float64(10*sleep) {
		t.Errorf("from %d ns, mean %.0f ns, with a server that sleeps %s", h.MinNS, h.MeanNS, sleep)
	}
}

func TestAnOpenLoopSeesAStall(t *testing.T) {
	// One stall of 300 ms in a run of 600 ms at 200 a second, one worker: sixty
	// queries are late, but only one was slow.
	var once sync.Once
	tested := against(t, func(w http.ResponseWriter, r *http.Request) {
		once.Do(func() { time.Sleep(300 * time.Millisecond) })
		reply(ok)(w, r)
	})
	summary, histograms, _ := driven(t, tested, 1, drive.Pace{Workers: 1, Rate: 200, Duration: 600 * time.Millisecond})
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
	summary, _, _ := driven(t, against(t, reply(ok)), 10, drive.Pace{
		Workers: 4, Rate: 2000, Poisson: true, Duration: 300 * time.Millisecond, Seed: 1,
	})
	if summary.Operations < 500 || summary.Operations > 700 {
		t.Errorf("%d queries were asked, want about 600", summary.Operations)
	}
}

func TestADurationAsksAgainAndAgain(t *testing.T) {
	summary, _, _ := driven(t, against(t, reply(ok)), 3, drive.Pace{Workers: 2, Duration: 100 * time.Millisecond})
	if summary.Operations < 10 || summary.DurationNS < 100e6 {
		t.Errorf("the summary is %+v", summary)
	}
}

func TestAServerThatIsGoneEndsTheRun(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	address, _ := wire.ParseAddress(server.URL)
	summary, _, errors := driven(t, influx.New(address, "db", time.Second), 1000, drive.Pace{Workers: 2})
	if summary.Errors > 10 || len(errors) == 0 || errors[0].Kind != "connection" {
		t.Errorf("the summary is %+v, errors %+v", summary, errors)
	}
}

func TestATickLimitsTheRateOfEachWorker(t *testing.T) {
	// Three workers need five ticks of 100 ms for 15 operations: the last begin after 400 ms, however busy the machine is.
	summary, _, _ := driven(t, against(t, reply(ok)), 15, drive.Pace{Workers: 3, Operations: 15, Tick: 100 * time.Millisecond})
	if summary.Operations != 15 || summary.DurationNS < 400e6 {
		t.Errorf("%d operations in %d ns with ticks of 100 ms and 3 workers, want 15 in 400 ms or more", summary.Operations, summary.DurationNS)
	}
	if summary.GeneratorStallNS > int64(100*time.Millisecond) {
		t.Errorf("waiting for ticks counts as waiting for the generator: %d ns", summary.GeneratorStallNS)
	}
}

func TestATickThatWasMissedIsNotMadeUpFor(t *testing.T) {
	// The first operation takes 350 ms: the second begins at once, the next at 400 ms.
	var once sync.Once
	tested := against(t, func(w http.ResponseWriter, r *http.Request) {
		once.Do(func() { time.Sleep(350 * time.Millisecond) })
		reply(ok)(w, r)
	})
	summary, _, _ := driven(t, tested, 1, drive.Pace{Workers: 1, Tick: 100 * time.Millisecond, Duration: 550 * time.Millisecond})
	if summary.Operations < 3 || summary.Operations > 4 {
		t.Errorf("%d operations, want 4: at 0, 350, 400 and 500 ms", summary.Operations)
	}
}

// slow is a client that prepares each operation, and does it, for a time.
type slow struct{ prepares, does time.Duration }

func (s slow) Next(number int64) bool    { time.Sleep(s.prepares); return number < 160 }
func (s slow) Do() (drive.Result, error) { time.Sleep(s.does); return drive.Result{}, nil }
func (s slow) Ended(*system.Failure)     {}
func (s slow) Interrupt()                {}
func (s slow) Close()                    {}

func TestTheGeneratorIsTheBottleneckOfAllWorkersTogether(t *testing.T) {
	for _, one := range []struct {
		slow
		want string
	}{
		{slow{time.Millisecond, 20 * time.Millisecond}, "server"}, // 16 workers together wait for most of the time of one
		{slow{20 * time.Millisecond, 0}, "generator"},
	} {
		var out bytes.Buffer
		work := drive.Work{
			Client: func(int) (drive.Client, error) { return one.slow, nil },
			Pace:   drive.Pace{Workers: 16},
		}
		summary, _, err := work.Run(context.Background(), measure.NewRun(event.NewWriter(&out), 16, false, "query"))
		if err != nil {
			t.Fatal(err)
		}
		if summary.Bottleneck != one.want {
			t.Errorf("workers that prepare for %s and do for %s have the bottleneck %q, want %q", one.prepares, one.does, summary.Bottleneck, one.want)
		}
	}
}
