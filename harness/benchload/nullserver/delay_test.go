package nullserver_test

import (
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

func TestAnswersAreHeldBack(t *testing.T) {
	server, at := started(t)
	server.Delay.Sleep = 20 * time.Millisecond
	began := time.Now()
	do(t, "GET", at+"/query?q=SELECT", nil)
	if took := time.Since(began); took < 20*time.Millisecond {
		t.Errorf("an answer came after %s", took)
	}
	_, told := do(t, "GET", at+"/held", nil)
	text, _, _ := strings.Cut(strings.TrimPrefix(told, `{"encoded":"`), `"`)
	if h, err := hdrhistogram.Decode([]byte(text)); err != nil || h.TotalCount() != 1 || h.Min() < 19e6 {
		t.Errorf("the server says of what it held back: %s (%v)", told, err)
	}
	began = time.Now()
	do(t, "GET", at+"/ping", nil)
	if took := time.Since(began); took > 15*time.Millisecond {
		t.Errorf("a ping is held back too: %s", took)
	}
}

func TestNothingIsAnsweredDuringAStall(t *testing.T) {
	server, at := started(t)
	server.Delay.Stall, server.Delay.Every = 100*time.Millisecond, 200*time.Millisecond
	var began time.Time
	for i := range 60 {
		do(t, "GET", at+"/query?q=SELECT", nil)
		if i == 0 {
			began = time.Now()
		} else if phase := time.Since(began) % (200 * time.Millisecond); phase > 110*time.Millisecond && phase < 190*time.Millisecond {
			t.Errorf("an answer came %s after the beginning of a period", phase)
		}
		time.Sleep(3 * time.Millisecond)
	}
}
