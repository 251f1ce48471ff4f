package request

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// sample is a set with one flag of each kind.
func sample() *Flags {
	f := NewFlags("sample", "Does nothing.")
	f.Text("text", "Words.", "", "any text")
	f.Choice("format", "How.", "influx", "influx", "csv", "arrow")
	f.Count("count", "How many.", 1, 1, 100)
	f.Seed("seed", "From what.")
	f.Rate("rate", "How fast.")
	f.Duration("interval", "How long.", time.Second)
	f.Time("start", "When.")
	f.Switch("digest", "If.")
	return f
}

func TestMistakesAreNamedWhole(t *testing.T) {
	for arguments, words := range map[string][]string{
		"--formt csv":                    {"--formt", "--count", `did you mean "--format"`},
		"--format cvs":                   {"--format", "cvs", "influx, csv, arrow", `did you mean "csv"`},
		"--format parquet-file-as-usual": {"parquet-file-as-usual", "influx, csv, arrow."},
		"--count 0":                      {"--count", `"0"`, "from 1 to 100"},
		"--count 1e3":                    {"--count", `"1e3"`, "whole number"},
		"--seed -1":                      {"--seed", `"-1"`, "0 to 18446744073709551615"},
		"--rate NaN":                     {"--rate", "NaN", "above 0"},
		"--interval 10":                  {"--interval", `"10"`, "10s"},
		"--interval -5s":                 {"--interval", `"-5s"`, "above 0"},
		"--start yesterday":              {"--start", "yesterday", "2016-01-01T00:00:00Z"},
		"--start 1492-10-12T00:00:00Z":   {"--start", "1970"},
		"--digest=maybe":                 {"--digest", "maybe", "leave the value out"},
		"--count":                        {"--count", "has no value"},
		"devops":                         {"devops", "flags only"},
	} {
		err := sample().Parse(strings.Fields(arguments))
		var mistake Mistake
		if !errors.As(err, &mistake) {
			t.Errorf("%q gives %v, want a mistake", arguments, err)
			continue
		}
		for _, word := range words {
			if !strings.Contains(err.Error(), word) {
				t.Errorf("%q gives %q, which does not name %q", arguments, err, word)
			}
		}
	}
}

func TestBothFormsOfFlagsAreRead(t *testing.T) {
	f := sample()
	count, zip := f.Count("rows", "Rows.", 1, 1, 10), f.Switch("gzip", "If.")
	f.Require("rows")
	if err := f.Parse([]string{"--rows=7", "--gzip", "--text", "--odd"}); err != nil || *count != 7 || !*zip || !f.Given("rows") || f.Given("seed") {
		t.Errorf("rows %d, gzip %v, error %v", *count, *zip, err)
	}
	f = sample()
	f.Require("seed")
	if err := f.Parse(nil); err == nil || !strings.Contains(err.Error(), "--seed") {
		t.Errorf("the error is %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("--count", "5")
	f.Add("--interval=10s", "--start=2016-01-01T00:00:00Z")
	f.Add("-", "--=")
	f.Fuzz(func(t *testing.T, one, two string) {
		err := sample().Parse([]string{one, two})
		if mistake := (Mistake{}); err != nil && !errors.As(err, &mistake) {
			t.Errorf("%q %q gives %v, which is not a mistake", one, two, err)
		}
	})
}
