package command

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"benchbook/benchload/nullserver"
)

// asProgram makes the test's own binary the program, for commands that start it.
const asProgram = "BENCHLOAD_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		code := Run(ctx, os.Args[1:], os.Stdout, os.Stderr)
		stop()
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// nullServing starts a null server.
func nullServing(t *testing.T) (*nullserver.Server, string) {
	t.Helper()
	server := nullserver.New()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Close)
	return server, "http://" + listener.Addr().String()
}

func TestClientsLoadTheDatasetTogether(t *testing.T) {
	t.Setenv(asProgram, "1")
	server, at := nullServing(t)
	for _, extra := range []string{"", " --share window --gzip"} {
		before := server.Counts().Rows
		code, lines, _, notes := run(t, words("load DATASET --batch-rows 500 --workers 2 --target influx --clients 3 --url "+at+extra)...)
		if code != 0 || len(lines) < 4 {
			t.Fatalf("it ends with %d: %v %s", code, lines, notes)
		}
		first, last := lines[0], lines[len(lines)-1]
		rows := float64(server.Counts().Rows - before)
		if rows != 8*540*9 || last["rows"] != rows || first["rows"] != rows || first["clients"] != 3.0 || first["workers"] != 6.0 || last["rows_unsent"] != 0.0 {
			t.Errorf("%v rows arrived, the start is %v, the summary %v", rows, first, last)
		}
	}
}

func TestAClientThatIsRefusedFailsTheLoad(t *testing.T) {
	t.Setenv(asProgram, "1")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/write" {
			w.WriteHeader(400)
			return
		}
		_, _ = w.Write([]byte(`{"results":[{}]}`))
	}))
	t.Cleanup(server.Close)
	code, lines, _, notes := run(t, words("load DATASET --target influx --clients 2 --url "+server.URL)...)
	last := lines[len(lines)-1]
	if code != 1 || last["type"] != "summary" || last["rows"] != 0.0 || last["rows_refused"].(float64)+last["rows_unsent"].(float64) != 8*540*9 {
		t.Errorf("it ends with %d: %v %s", code, last, notes)
	}
}

func TestInterruptedClientsSaySo(t *testing.T) {
	t.Setenv(asProgram, "1")
	begun := make(chan struct{}, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/write" {
			begun <- struct{}{}
			time.Sleep(50 * time.Millisecond)
			w.WriteHeader(204)
			return
		}
		_, _ = w.Write([]byte(`{"results":[{}]}`))
	}))
	t.Cleanup(server.Close)
	ctx, cancel := context.WithCancel(context.Background())
	go func() { <-begun; cancel() }()
	var out, notes strings.Builder
	code := Run(ctx, words("load DATASET --batch-rows 100 --target influx --clients 2 --url "+server.URL), &out, &notes)
	if code != 1 || !strings.Contains(notes.String(), "interrupted") || !strings.Contains(out.String(), `"type":"summary"`) {
		t.Errorf("it ends with %d: %s %s", code, out.String(), notes.String())
	}
}

func TestMistakesOfClients(t *testing.T) {
	for arguments, word := range map[string]string{
		"load DATASET --target null --clients 9":                    "--share window",
		"load DATASET --target null --clients 2 --client-count 2":   "leave one",
		"load DATASET --target null --clients 2 --file nowhere":     "--file",
		"load DATASET --target null --client-count 2 --file x":      "--file",
		"load DATASET --target null --client-index 1":               "--client-index",
		"load DATASET --target null --client-count 2 --share width": `did you mean "window"`,
	} {
		code, _, _, notes := run(t, words(arguments)...)
		if code != 2 || !strings.Contains(notes, word) {
			t.Errorf("%q ends with %d: %s", arguments, code, notes)
		}
	}
}
