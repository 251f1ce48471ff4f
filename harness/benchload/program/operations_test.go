package program

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/parquet/file"
)

// records is the number of records of a file.
func records(t *testing.T, path string) int64 {
	t.Helper()
	reader, err := file.OpenParquetFile(path, false)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	return reader.NumRows()
}

// Every command that measures keeps as many records as it counts operations.
func TestEveryOperationIsKept(t *testing.T) {
	folder := t.TempDir()
	queries := filepath.Join(folder, "queries")
	_, _, out, _ := run(t, words("queries DATASET --query-seed 1 --types 1-host-1-hr --count 40")...)
	if err := os.WriteFile(queries, []byte(out), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, command := range map[string]string{
		"load":  "load DATASET --target null --workers 3 --batch-rows 100",
		"query": "query --target null --workers 2 --warmup 7 --queries " + queries,
		"open":  "query --target null --workers 2 --rate 5000 --duration 100ms --queries " + queries,
		"mixed": "blob --target files --url " + folder + "/objects --seed 1 --count 50 --size 1KiB --do mixed --operations 60 --workers 2 --kept " + folder + "/kept",
	} {
		path := filepath.Join(folder, "new", name+".parquet")
		code, lines, _, notes := run(t, append(words(command), "--record-operations", path)...)
		if code != 0 {
			t.Errorf("%s ends with %d: %s", name, code, notes)
			continue
		}
		want := 0.0
		for _, line := range lines {
			if line["type"] == "interval" {
				want += line["operations"].(float64) + line["errors"].(float64)
			}
		}
		if got := records(t, path); float64(got) != want || got == 0 {
			t.Errorf("%s keeps %d records of %.0f operations", name, got, want)
		}
	}
}

func TestAFileOfOperationsThatCannotBeMadeIsAMistake(t *testing.T) {
	code, lines, _, notes := run(t, words("load DATASET --target null --record-operations /dev/null/x")...)
	if code != 2 || len(lines) != 0 || !strings.Contains(notes, "--record-operations cannot be written") {
		t.Errorf("it ends with %d: %s", code, notes)
	}
}
