package program

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"benchbook/benchload/nullserver"
)

// asked asks a server for the answers to ten queries.
func asked(t *testing.T, url, extra string) (code int, lines []map[string]any, summary map[string]any) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "queries")
	_, _, out, _ := run(t, words("queries DATASET --query-seed 1 --types 1-host-1-hr --count 10")...)
	if err := os.WriteFile(path, []byte(out), 0o600); err != nil {
		t.Fatal(err)
	}
	code, lines, _, _ = run(t, strings.Fields("query --target influx --url "+url+" --queries "+path+" "+extra)...)
	return code, lines, lines[len(lines)-1]
}

func TestADatabaseThatDoesNotExistScoresNothing(t *testing.T) {
	server := httptest.NewServer(refusing(200, `{"results":[{"statement_id":0,"error":"database not found: benchbook"}]}`))
	t.Cleanup(server.Close)
	code, lines, summary := asked(t, server.URL, "")
	if code != 1 || summary["operations"] != 0.0 || summary["operations_per_second"] != 0.0 || summary["errors"] != 10.0 {
		t.Errorf("it ends with %d: %v", code, summary)
	}
	if failure := lines[len(lines)-3]; failure["kind"] != "answer" || !strings.Contains(failure["message"].(string), "database not found") {
		t.Errorf("the failure is %v", failure)
	}
}

func TestTimedAnswersAreCountedByWhatIsInThem(t *testing.T) {
	// Every fourth answer lacks its rows.
	number := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		rows := `{"series":[{"values":[["2016-01-01T00:00:00Z",1.5]]}]}`
		if number++; number%4 == 0 {
			rows = `{"statement_id":0}`
		}
		_, _ = io.WriteString(w, `{"results":[`+rows+`]}`)
	}))
	t.Cleanup(server.Close)
	code, lines, summary := asked(t, server.URL, "")
	if code != 0 || summary["operations"] != 10.0 {
		t.Fatalf("it ends with %d: %v", code, summary)
	}
	whole := 0.0
	for _, one := range lines[len(lines)-2]["answers"].([]any) {
		if one := one.(map[string]any); one["sum"] == 2016.0+1+1+1.5 {
			whole += one["answers"].(float64)
		}
	}
	if whole != 8 {
		t.Errorf("%v answers are whole, want 8: %v", whole, lines[len(lines)-2])
	}
}

func TestAnOpenLoopShowsStallsAtTheRightPercentiles(t *testing.T) {
	// A quarter of the time nothing is answered: of all responses a quarter waits,
	// evenly from nothing to the whole stall.
	server := nullserver.New()
	server.Delay.Stall, server.Delay.Every = 200*time.Millisecond, 800*time.Millisecond
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Close)
	_, lines, summary := asked(t, "http://"+listener.Addr().String(), "--rate 200 --duration 1600ms --workers 1")
	response := encoded(t, lines, "response")
	if summary["operations"] != 320.0 {
		t.Fatalf("%v queries were asked, want 320", summary["operations"])
	}
	for part, least := range map[float64]int64{0.875: 70e6, 0.97: 150e6, 0.99: 170e6} {
		if got := response.ValueAtPercentile(100 * part); got < least {
			t.Errorf("the quantile %v is %d ns, want at least %d", part, got, least)
		}
	}
	// The times of service alone hide it: only two queries were slow.
	if service := encoded(t, lines, "service"); service.ValueAtPercentile(97) > response.ValueAtPercentile(97)/2 {
		t.Errorf("service has %d ns and response %d ns at 0.97", service.ValueAtPercentile(97), response.ValueAtPercentile(97))
	}
}
