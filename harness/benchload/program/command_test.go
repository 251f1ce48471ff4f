package program

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"benchbook/benchload/program/programtest"
)

// asProgram makes the test's own binary the program, for commands that start it.
const asProgram = "BENCHLOAD_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		code := Benchload.Run(ctx, os.Args[1:], os.Stdout, os.Stderr)
		stop()
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// run does a command and returns its exit code, its lines and its messages.
func run(t *testing.T, arguments ...string) (code int, lines []map[string]any, out, notes string) {
	t.Helper()
	var outBuffer, notesBuffer bytes.Buffer
	code = Benchload.Run(context.Background(), arguments, &outBuffer, &notesBuffer)
	for _, line := range strings.Split(strings.TrimSpace(outBuffer.String()), "\n") {
		var object map[string]any
		if json.Unmarshal([]byte(line), &object) == nil {
			lines = append(lines, object)
		}
	}
	return code, lines, outBuffer.String(), notesBuffer.String()
}

// words are the arguments of a command with the flags of a small dataset.
func words(text string) []string {
	return strings.Fields(strings.ReplaceAll(text, "DATASET",
		"devops --seed 1 --scale 8 --start 2016-01-01T00:00:00Z --end 2016-01-01T01:30:00Z --interval 10s"))
}

func TestMistakesEndWithTwo(t *testing.T) {
	queries := filepath.Join(t.TempDir(), "queries")
	if err := os.WriteFile(queries, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for arguments, word := range map[string]string{
		"":                       "needs one of generate, load, ",
		"genrate":                `did you mean "generate"`,
		"generate":               "generate needs one of devops, iot, frames, join-frames, hits, blob;",
		"generate devop":         `did you mean "devops"`,
		"generate devops":        "--end",
		"generate DATASET --x 1": "--x",
		"generate DATASET --end 2015-01-01T00:00:00Z":                   "not after --start",
		"generate DATASET --interval 1ns":                               "longer --interval",
		"generate DATASET --scale 1000000000000":                        "smaller --scale",
		"generate DATASET --format csv":                                 "--table cpu",
		"generate DATASET --digest --format csv":                        "--digest",
		"generate DATASET --digest --endless":                           "--endless",
		"generate DATASET --table cpus":                                 `did you mean "cpu"`,
		"generate DATASET --series-first 8":                             "--series-first",
		"generate DATASET --series-first 7 --series-count 2":            "--series-count",
		"generate DATASET --window-end 2017-01-01T00:00:00Z":            "--window-end",
		"queries DATASET --query-seed 1 --count 1 --types x-host":       "--types",
		"queries DATASET --query-seed 1 --count 1 --types 8-host-1hr":   `--types: found "8-host-1hr"; allowed are 1-host-1-hr, 1-host-12-hr, 8-host-1-hr, groupby, groupby-max; did you mean "8-host-1-hr"?`,
		"queries DATASET --query-seed 1 --count 1 --types 1-host-12-hr": "--end",
		"load DATASET":                                       "--target",
		"load DATASET --target influx":                       "--url",
		"load DATASET --target influx --url x":               "--url",
		"load DATASET --target influxdb":                     `did you mean "influx"`,
		"load DATASET --target null --file nowhere":          "--file",
		"load DATASET --target null --arrivals poisson":      "--rate",
		"load DATASET --target null --duration 0s":           "--duration",
		"query --target null --queries nowhere":              "--queries",
		"query --target null --queries " + queries:           "has no queries",
		"query --target null --queries x --arrivals poisson": "--rate",
		"null-server --listen nowhere":                       "--listen",
		"version --x":                                        "--x",
	} {
		code, lines, _, notes := run(t, words(arguments)...)
		if code != 2 || len(lines) != 0 || !strings.Contains(notes, word) || strings.Count(notes, "\n") != 1 {
			t.Errorf("%q ends with %d, %d events and %q; want 2, none and one line with %q", arguments, code, len(lines), notes, word)
		}
	}
}

func TestTheDigestIsThatOfTheBytes(t *testing.T) {
	code, lines, _, _ := run(t, words("generate DATASET --digest")...)
	_, _, out, _ := run(t, words("generate DATASET --workers 3 --batch-rows 100")...)
	if code != 0 || len(lines) != 1 || lines[0]["bytes"] != float64(len(out)) || lines[0]["rows"] != float64(strings.Count(out, "\n")) {
		t.Fatalf("the digest is %v of %d bytes", lines, len(out))
	}
	if tables := lines[0]["tables"].(map[string]any); len(tables) != 9 || tables["mem"].(map[string]any)["rows"] != float64(8*540) {
		t.Errorf("the tables are %v", tables)
	}
}

func TestAnInterruptedDigestIsNone(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, extra := range []string{"", " --digest"} {
		var out, notes bytes.Buffer
		code := Benchload.Run(ctx, words("generate DATASET --scale 1000"+extra), &out, &notes)
		if code != 1 || strings.Contains(out.String(), "sha256") || !strings.Contains(notes.String(), "interrupted") {
			t.Errorf("it ends with %d, %q and %q", code, out.String()[:min(out.Len(), 80)], notes.String())
		}
	}
}

func TestADatasetIsLoadedAndAsked(t *testing.T) {
	server, at := programtest.NullServer(t)
	tested := " --target influx --database x --url " + at
	for _, extra := range []string{"", " --gzip --workers 3", " --series-first 2 --series-count 3", " --rate 100000"} {
		before := server.Counts().Rows
		code, lines, _, notes := run(t, words("load DATASET --batch-rows 1000"+tested+extra)...)
		last := lines[len(lines)-1]
		if code != 0 || lines[0]["type"] != "start" || last["type"] != "summary" || last["rows_unsent"] != 0.0 {
			t.Fatalf("the load ends with %d: %v %s", code, last, notes)
		}
		if rows := server.Counts().Rows - before; last["rows"] != float64(rows) || lines[0]["rows"] != float64(rows) {
			t.Errorf("the server has %d rows, the summary says %v, the start %v", rows, last["rows"], lines[0]["rows"])
		}
	}

	path := filepath.Join(t.TempDir(), "queries")
	_, _, out, _ := run(t, words("queries DATASET --query-seed 1 --types 1-host-1-hr,groupby --count 20")...)
	if err := os.WriteFile(path, []byte(out), 0o600); err != nil {
		t.Fatal(err)
	}
	code, lines, _, _ := run(t, words("query --warmup 5 --workers 2 --queries "+path+tested)...)
	last := lines[len(lines)-1]
	if code != 0 || last["type"] != "summary" || last["operations"] != 40.0 || len(last["digest"].(string)) != 64 {
		t.Errorf("the queries end with %d: %v", code, last)
	}
	operations := map[any]float64{}
	for _, line := range lines {
		if line["type"] == "interval" {
			operations[line["operation"]] += line["operations"].(float64)
		}
		if line["v"] != 1.0 {
			t.Errorf("the event %v has no version", line)
		}
	}
	if operations["warmup"] != 5 || operations["query"] != 40 {
		t.Errorf("the intervals count %v", operations)
	}
	if code, lines, _, _ = run(t, words("query --answers --limit 2 --also 3,30 --queries "+path+tested)...); code != 0 || len(lines) != 7 || lines[1]["type"] != "answer" {
		t.Fatalf("the answers end with %d: %v", code, lines)
	}
	if digests := lines[5]["answers"].([]any); lines[5]["type"] != "answered" || len(digests) != 6 {
		t.Errorf("the digests are %v", lines[5])
	}
	if code, _, _, notes := run(t, words("query --also 3 --queries "+path+tested)...); code != 2 || !strings.Contains(notes, "--also is for --answers") {
		t.Errorf("--also alone ends with %d: %s", code, notes)
	}
}

func TestAMissingServerIsReported(t *testing.T) {
	listening := httptest.NewServer(http.NotFoundHandler())
	listening.Close()
	code, lines, _, _ := run(t, words("load DATASET --target influx --url "+listening.URL)...)
	last := lines[len(lines)-1]
	if code != 1 || last["type"] != "summary" || last["rows"] != 0.0 || lines[1]["kind"] != "connection" {
		t.Errorf("the load ends with %d: %v", code, lines)
	}
}

func TestTheGeneratorAloneIsTheBottleneck(t *testing.T) {
	code, lines, _, _ := run(t, words("load DATASET --target null --workers 2")...)
	if last := lines[len(lines)-1]; code != 0 || last["rows"] != float64(8*540*9) || last["values"] != float64(8*540*101) {
		t.Errorf("the load ends with %d: %v", code, last)
	}
}
