package frames

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"testing"

	"benchbook/benchload/dataset"
	"benchbook/benchload/format"
	"benchbook/benchload/stream"
	"benchbook/benchload/stream/streamtest"
)

func extent(rows, groups int64) dataset.Extent {
	return dataset.Extent{
		Seed: 108, Scale: rows, SeriesCount: rows, End: 1000, WindowEnd: 1000, Interval: 1000, Tags: []int64{groups},
	}
}

func lines(t *testing.T, g dataset.Generator, workers int) string {
	t.Helper()
	return string(streamtest.Read(g, format.NewInflux(g), stream.Options{PieceRows: 97, Workers: workers, Readers: 1}))
}

// The digest is of the first rows of every run; it may change only with the generator's name.
func TestTheBytesNeverChange(t *testing.T) {
	sum := sha256.Sum256([]byte(lines(t, New(extent(1000, 10)), 2)))
	if got, want := hex.EncodeToString(sum[:]), "cf41d5636d12a1674e9546eb2655ccb0501dbe440561d8046b4f87a7df5927a2"; got != want {
		t.Errorf("the digest is %s, want %s", got, want)
	}
}

func TestAnyPartitionJoinedIsTheWhole(t *testing.T) {
	whole := lines(t, New(extent(1000, 10)), 1)
	var parts string
	for _, part := range [][2]int64{{0, 1}, {1, 700}, {701, 299}} {
		x := extent(1000, 10)
		x.SeriesFirst, x.SeriesCount = part[0], part[1]
		parts += lines(t, New(x), 3)
	}
	if parts != whole {
		t.Error("the parts differ from the whole")
	}
}

// Every key and value has the domain of the publication's generator.
func TestEveryColumnHasItsDomain(t *testing.T) {
	seen := map[string]map[string]bool{}
	for line := range strings.Lines(lines(t, New(extent(20_000, 10)), 2)) {
		head, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		values, _, _ := strings.Cut(rest, " ")
		_, tags, _ := strings.Cut(head, ",")
		for _, pair := range strings.Split(tags+","+values, ",") {
			name, value, _ := strings.Cut(pair, "=")
			if seen[name] == nil {
				seen[name] = map[string]bool{}
			}
			seen[name][strings.TrimSuffix(value, "i")] = true
		}
	}
	for name, want := range map[string]int{"id1": 10, "id2": 10, "id3": 2000, "id4": 10, "id5": 10, "id6": 2000, "v1": 5, "v2": 15} {
		if got := len(seen[name]); got != want {
			t.Errorf("%s has %d values, want %d", name, got, want)
		}
	}
	if !seen["id1"]["id001"] || !seen["id1"]["id010"] || !seen["id3"]["id0000002000"] {
		t.Error("the texts of keys are not those of the publication")
	}
	for text := range seen["v3"] {
		value, err := strconv.ParseFloat(text, 64)
		if err != nil || value < 0 || value > 100 {
			t.Fatalf("v3 is %s", text)
		}
		if _, digits, _ := strings.Cut(text, "."); len(strings.TrimRight(digits, "0")) > 6 {
			t.Fatalf("v3 is %s, with more than six digits", text)
		}
	}
}
