package program

import (
	"strings"
	"testing"
)

const (
	trucks  = "iot --seed 1 --scale 20 --start 2022-01-01T00:00:00Z --end 2022-01-01T01:00:00Z --interval 50s"
	objects = "blob --seed 1 --count 100 --size uniform:1B:100B"
)

// The digest of each dataset is that of its output.
func TestDigestsAreOfTheOutput(t *testing.T) {
	for _, dataset := range []string{trucks} {
		code, _, out, notes := run(t, strings.Fields("generate "+dataset)...)
		_, lines, _, _ := run(t, strings.Fields("generate "+dataset+" --digest")...)
		if code != 0 || lines[0]["rows"] != float64(strings.Count(out, "\n")) || lines[0]["bytes"] != float64(len(out)) {
			t.Errorf("%s: code %d, %s%v", dataset, code, notes, lines)
		}
	}
}

func TestObjectsJoinedAreTheWhole(t *testing.T) {
	_, _, whole, _ := run(t, strings.Fields("generate "+objects)...)
	_, _, first, _ := run(t, strings.Fields("generate "+objects+" --objects 30")...)
	_, _, rest, _ := run(t, strings.Fields("generate "+objects+" --first 30 --workers 1")...)
	_, lines, _, _ := run(t, strings.Fields("generate "+objects+" --digest")...)
	if whole == "" || first+rest != whole || lines[0]["objects"] != 100.0 {
		t.Errorf("%d and %d bytes in parts, %d in the whole: %v", len(first), len(rest), len(whole), lines)
	}
}

func TestMistakesOfDatasets(t *testing.T) {
	for arguments, word := range map[string]string{
		"generate blobs": `did you mean "blob"`,
		"load blob":      "allowed are devops, iot",
		"generate iot --seed 1 --scale 1 --start 2022-01-01T00:00:00Z": "--end",
		"generate " + trucks + " --table cpu":                          "readings, diagnostics",
		"generate " + trucks + " --days 3":                             "--days",
		"generate blob --seed 1 --count 1":                             "--size",
		"generate blob --seed 1 --count 1 --size 4kb":                  "--size",
		"generate " + objects + " --first 100":                         "--first",
		"generate " + objects + " --first 90 --objects 11":             "--objects",
		"queries blob": "devops",
	} {
		code, _, _, notes := run(t, strings.Fields(arguments)...)
		if code != 2 || !strings.Contains(notes, word) {
			t.Errorf("%s: code %d, %s", arguments, code, notes)
		}
	}
}
