package program

import (
	"strings"
	"testing"
)

func TestMistakesInFlagsAreNamedWhole(t *testing.T) {
	const few = "--seed 1 --scale 8 --start 2016-01-01T00:00:00Z --end 2016-01-01T01:30:00Z"
	for arguments, words := range map[string][]string{
		"generate devops " + few + " --formt csv":                       {"--formt", `did you mean "--format"`, "generate devops --help"},
		"generate devops " + few + " --format cvs":                      {"--format", "cvs", "influx, csv, arrow", `did you mean "csv"`},
		"generate devops " + few + " --format parquet-file-as-usual":    {"parquet-file-as-usual", "influx, csv, arrow"},
		"generate devops " + few + " --workers 0":                       {"--workers", `"0"`, "from 1 to 1024"},
		"generate devops " + few + " --workers 1e3":                     {"--workers", `"1e3"`, "whole number"},
		"generate devops " + few + " --seed=-1":                         {"--seed", `"-1"`, "0 to 18446744073709551615"},
		"generate devops " + few + " --seed -1":                         {"--seed", `"-1"`},
		"load devops " + few + " --target null --rate NaN":              {"--rate", "NaN", "above 0"},
		"generate devops " + few + " --interval 10":                     {"--interval", `"10"`, "10s"},
		"generate devops " + few + " --interval=-5s":                    {"--interval", `"-5s"`, "above 0"},
		"generate devops " + few + " --window-start yesterday":          {"--window-start", "yesterday", "2016-01-01T00:00:00Z"},
		"generate devops " + few + " --window-end=1492-10-12T00:00:00Z": {"--window-end", "1970"},
		"generate devops " + few + " --digest=maybe":                    {"--digest", "maybe", "true"},
		"generate devops " + few + " --workers":                         {"--workers", "expected a value"},
		"generate devops " + few + " devops":                            {"unexpected argument devops"},
		"generate devops --seed 1 --scale 8 --end 2016-01-01T01:30:00Z": {"missing flags: --start=TIME"},
	} {
		code, lines, _, notes := run(t, strings.Fields(arguments)...)
		if code != 2 || len(lines) != 0 || strings.Count(notes, "\n") != 1 {
			t.Errorf("%q ends with %d, %d events and %q", arguments, code, len(lines), notes)
		}
		for _, word := range words {
			if !strings.Contains(notes, word) {
				t.Errorf("%q gives %q, which does not name %q", arguments, notes, word)
			}
		}
	}
}

func TestBothFormsOfFlagsAreRead(t *testing.T) {
	_, _, spaced, _ := run(t, words("generate DATASET --workers 2")...)
	_, _, joined, _ := run(t, strings.Fields("generate devops --workers=2 --interval=10s --seed=1 --scale=8 --start=2016-01-01T00:00:00Z --end=2016-01-01T01:30:00Z")...)
	if spaced == "" || spaced != joined {
		t.Errorf("%d and %d bytes", len(spaced), len(joined))
	}
}

func FuzzArguments(f *testing.F) {
	f.Add("--workers", "5")
	f.Add("--interval=10s", "--start=2016-01-01T00:00:00Z")
	f.Add("-", "--=")
	f.Fuzz(func(t *testing.T, one, two string) {
		// --listen is checked last, so no argument can start the server.
		code, _, _, notes := run(t, "null-server", one, two, "--listen=nowhere")
		if help := strings.Contains(one+two, "-h"); code != 2 && !help || code == 2 && strings.Count(notes, "\n") != 1 {
			t.Errorf("%q %q ends with %d and %q", one, two, code, notes)
		}
	})
}
