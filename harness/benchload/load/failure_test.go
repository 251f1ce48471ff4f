package load_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
)

func TestAServerThatIsBrokenForAWhileIsLoadedWithRetries(t *testing.T) {
	for _, status := range []int{429, 500, 503} {
		var requests atomic.Int64
		o := loaded(t, func(w http.ResponseWriter, r *http.Request) {
			if requests.Add(1) <= 4 {
				answer(status, `{"error":"busy"}`)(w, r)
				return
			}
			answer(204, "")(w, r)
		}, asIs)
		if o.summary.Rows != rows || o.summary.Retries != 4 || o.summary.Errors != 0 {
			t.Errorf("with %d the summary is %+v", status, o.summary)
		}
	}
}

func TestAServerThatStaysBrokenIsGivenUp(t *testing.T) {
	o := loaded(t, answer(500, `{"error":"engine is closed"}`), func(o *options) { o.Retries = 3; o.Workers = 1 })
	if o.summary.Rows != 0 || o.summary.Retries != 3 || o.summary.RowsRefused != batch || !o.ended ||
		len(o.errors) != 1 || o.errors[0].Kind != "server" {
		t.Errorf("the summary is %+v, errors %+v", o.summary, o.errors)
	}
}

func TestAServerThatStallsIsATimeout(t *testing.T) {
	o := loaded(t, func(_ http.ResponseWriter, r *http.Request) {
		// The server notices that the client hung up only after the body.
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}, asIs)
	if o.summary.Rows != 0 || len(o.errors) != 1 || o.errors[0].Kind != "timeout" {
		t.Errorf("the summary is %+v, errors %+v", o.summary, o.errors)
	}
}

func TestAServerThatResetsOrIsGoneEndsTheLoad(t *testing.T) {
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	for name, url := range map[string]string{"resets": raw(t, ""), "is gone": closed.URL} {
		o := loadedAt(t, url, keepGoing)
		if o.summary.Rows != 0 || !o.ended || len(o.errors) == 0 || o.errors[0].Kind != "connection" {
			t.Errorf("a server that %s: summary %+v, errors %+v", name, o.summary, o.errors)
		}
		if o.summary.Errors > 2 || o.summary.Retries > 6 {
			t.Errorf("a server that %s was tried again %d times, with %d errors", name, o.summary.Retries, o.summary.Errors)
		}
	}
}

func TestEveryResetOfAConnectionIsCounted(t *testing.T) {
	var requests, resets atomic.Int64
	o := loaded(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if number := requests.Add(1); number%3 == 1 && number > 1 {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			resets.Add(1)
			_ = conn.Close()
			return
		}
		answer(204, "")(w, r)
	}, func(o *options) { o.Workers = 1 })
	if o.summary.Rows != rows || o.summary.Errors != 0 || o.summary.Retries != resets.Load() || resets.Load() == 0 {
		t.Errorf("%d connections were reset, and the summary is %+v", resets.Load(), o.summary)
	}
}
