package drive_test

import (
	"bytes"
	"context"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"benchbook/benchload/drive"
	"benchbook/benchload/event"
	"benchbook/benchload/measure"
	"benchbook/benchload/system"
)

// scripted is a client whose operations have the outcomes of a function.
type scripted struct {
	do     func(number int64) (drive.Result, error)
	number int64
	ended  *atomic.Int64
	most   int64
}

func (s *scripted) Next(number int64) bool {
	s.number = number
	return s.most == 0 || number < s.most
}
func (s *scripted) Do() (drive.Result, error) { return s.do(s.number) }
func (s *scripted) Ended(*system.Failure)     { s.ended.Add(1) }
func (s *scripted) Interrupt()                {}
func (s *scripted) Close()                    {}

// looped runs a workload of scripted clients.
func looped(t *testing.T, out io.Writer, pace drive.Pace, rule drive.Rule, most int64, do func(int64) (drive.Result, error)) (summary event.Summary, ended bool, told int64) {
	t.Helper()
	var count atomic.Int64
	work := drive.Work{Pace: pace, Rule: rule, Client: func(int) (drive.Client, error) {
		return &scripted{do: do, ended: &count, most: most}, nil
	}}
	summary, ended, err := work.Run(context.Background(), measure.NewRun(event.NewWriter(out), pace.Workers, pace.Rate > 0, "x"))
	if err != nil {
		t.Fatal(err)
	}
	return summary, ended, count.Load()
}

// fails makes operations fail in one way.
func fails(kind system.FailureKind) func(int64) (drive.Result, error) {
	return func(int64) (drive.Result, error) {
		return drive.Result{}, &system.Failure{Kind: kind, Message: string(kind), Refused: 1}
	}
}

func TestTheRuleOfFailures(t *testing.T) {
	keep := drive.Rule{KeepGoing: true, Retries: 2}
	for name, c := range map[string]struct {
		rule            drive.Rule
		kind            system.FailureKind
		errors, retries int64
		ended           bool
	}{
		"a refusal ends the workload":                  {drive.Rule{Retries: 2}, system.Refused, 1, 0, true},
		"a timeout is not retried":                     {drive.Rule{Retries: 2}, system.Timeout, 1, 0, true},
		"a busy server is tried again":                 {drive.Rule{Retries: 2}, system.Server, 1, 2, true},
		"refusals are counted":                         {keep, system.Refused, 10, 0, false},
		"each operation has its retries":               {keep, system.Server, 10, 20, false},
		"a server that is gone ends it all the same":   {keep, system.Connection, 2, 2, true},
		"without retries after four operations":        {drive.Rule{KeepGoing: true}, system.Connection, 4, 0, true},
		"too many failures end it":                     {drive.Rule{KeepGoing: true, Most: 7}, system.BadAnswer, 7, 0, true},
		"a server that is gone has few retries at all": {drive.Rule{Retries: 100}, system.Connection, 1, 3, true},
	} {
		summary, ended, told := looped(t, io.Discard, drive.Pace{Workers: 1, Operations: 10}, c.rule, 0, fails(c.kind))
		if summary.Errors != c.errors || summary.Retries != c.retries || ended != c.ended || told != c.errors || summary.RowsRefused != c.errors {
			t.Errorf("%s: ended %v, %d were told, the summary is %+v", name, ended, told, summary)
		}
	}
}

// The latency of an operation is that of its last attempt, without the pause before it.
func TestTheLatencyIsThatOfTheLastAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		attempts := 0
		var out bytes.Buffer
		rule := drive.Rule{Retries: 3, Pause: time.Second}
		summary, _, _ := looped(t, &out, drive.Pace{Workers: 1, Operations: 1}, rule, 0, func(int64) (drive.Result, error) {
			attempts++
			if attempts < 3 {
				time.Sleep(100 * time.Millisecond)
				return fails(system.Server)(0)
			}
			time.Sleep(10 * time.Millisecond)
			return drive.Result{}, nil
		})
		if summary.Retries != 2 || !strings.Contains(out.String(), `"max_ns":10000000,`) {
			t.Errorf("%d retries, the events are %s", summary.Retries, out.String())
		}
	})
}

// After an answer the server counts as reached again.
func TestOneFailureToConnectIsNotTheEnd(t *testing.T) {
	summary, ended, _ := looped(t, io.Discard, drive.Pace{Workers: 1, Operations: 30}, drive.Rule{KeepGoing: true}, 0, func(n int64) (drive.Result, error) {
		if n%4 == 3 {
			return drive.Result{}, nil
		}
		return fails(system.Connection)(n)
	})
	if ended || summary.Errors != 23 || summary.Operations != 7 {
		t.Errorf("ended %v, the summary is %+v", ended, summary)
	}
}

func TestTheWorkEndsWhereClientsHaveNoMore(t *testing.T) {
	for _, workers := range []int{1, 5} {
		summary, ended, told := looped(t, io.Discard, drive.Pace{Workers: workers}, drive.Rule{}, 37, func(int64) (drive.Result, error) {
			return drive.Result{Counts: measure.Counts{Rows: 2}}, nil
		})
		if summary.Operations != 37 || summary.Rows != 74 || ended || told != 37 {
			t.Errorf("%d workers: ended %v, the summary is %+v", workers, ended, summary)
		}
	}
}

// What ends after the time of a workload counts, but not in its rates.
func TestTheDrainIsNotInTheRates(t *testing.T) {
	// A worker begins nothing after an operation that ended too late.
	summary, _, _ := looped(t, io.Discard, drive.Pace{Workers: 4, Operations: 10, Duration: time.Hour}, drive.Rule{KeepGoing: true}, 0, func(n int64) (drive.Result, error) {
		result := drive.Result{Counts: measure.Counts{Rows: 5}}
		if n >= 6 {
			result.Ended = time.Now().Add(2 * time.Hour)
		}
		return result, nil
	})
	seconds := float64(summary.WindowNS) / 1e9
	if summary.Operations != 10 || summary.DrainedOperations != 4 || summary.Rows != 50 || summary.DrainedRows != 20 ||
		summary.OperationsPerSecond != 6/seconds || summary.RowsPerSecond != 30/seconds {
		t.Errorf("the summary is %+v", summary)
	}
}

// A failure after the time of a workload takes nothing from what succeeded within it; the part that it wrote is in no rate.
func TestAFailureInTheDrainIsNoOperation(t *testing.T) {
	summary, _, _ := looped(t, io.Discard, drive.Pace{Workers: 1, Operations: 4, Duration: time.Hour}, drive.Rule{KeepGoing: true}, 0, func(n int64) (drive.Result, error) {
		result := drive.Result{Counts: measure.Counts{Rows: 5}}
		if n < 3 {
			return result, nil
		}
		result.Ended = time.Now().Add(2 * time.Hour)
		return result, &system.Failure{Kind: system.Refused}
	})
	seconds := float64(summary.WindowNS) / 1e9
	if summary.Operations != 3 || summary.Errors != 1 || summary.DrainedOperations != 0 || summary.Rows != 20 ||
		summary.DrainedRows != 5 || summary.OperationsPerSecond != 3/seconds || summary.RowsPerSecond != 15/seconds {
		t.Errorf("the summary is %+v", summary)
	}
}

// An interval that begins after the window says so.
func TestIntervalsOfTheDrainAreNamed(t *testing.T) {
	var out bytes.Buffer
	release := make(chan struct{})
	reader, writer := io.Pipe()
	go func() {
		buffer := make([]byte, 1<<20)
		for seen := false; ; {
			n, err := reader.Read(buffer)
			out.Write(buffer[:n])
			if err != nil {
				close(release)
				return
			}
			if !seen { // the interval that ends with the window
				seen = true
				release <- struct{}{}
			}
		}
	}()
	looped(t, writer, drive.Pace{Workers: 1, Operations: 1, Duration: time.Millisecond}, drive.Rule{}, 0, func(int64) (drive.Result, error) {
		<-release
		return drive.Result{}, nil
	})
	_ = writer.Close()
	<-release
	lines := strings.Split(out.String(), "\n")
	if strings.Contains(lines[0], `"drain"`) || !strings.Contains(lines[1], `"drain":true,"operations":1`) {
		t.Errorf("the intervals are %s", out.String())
	}
}

// The numbers of an open loop's operations are consecutive, at whatever rate.
func TestAnOpenLoopOfEveryKindOfWork(t *testing.T) {
	var sum atomic.Int64
	summary, _, _ := looped(t, io.Discard, drive.Pace{Workers: 3, Operations: 50, Rate: 1e6}, drive.Rule{}, 0, func(n int64) (drive.Result, error) {
		sum.Add(n)
		return drive.Result{}, nil
	})
	if summary.Operations != 50 || sum.Load() != 49*50/2 || summary.OfferedPerSecond == nil || *summary.OfferedPerSecond != 1e6 {
		t.Errorf("the numbers add up to %d, the summary is %+v", sum.Load(), summary)
	}
}

// A rate counts as reached from 99 % of it. The clock is that of the test.
func TestARateThatIsNotReachedIsNamed(t *testing.T) {
	for _, c := range []struct {
		each      time.Duration // of an operation; one is offered each 10 ms
		saturated bool
	}{{10500 * time.Microsecond, true}, {10120 * time.Microsecond, true}, {10080 * time.Microsecond, false}} {
		synctest.Test(t, func(t *testing.T) {
			summary, _, _ := looped(t, io.Discard, drive.Pace{Workers: 1, Operations: 200, Rate: 100}, drive.Rule{}, 0, func(int64) (drive.Result, error) {
				time.Sleep(c.each)
				return drive.Result{}, nil
			})
			if summary.Saturated != c.saturated || summary.DurationNS != int64(200*c.each) {
				t.Errorf("with operations of %s, the summary is %+v", c.each, summary)
			}
		})
	}
}
