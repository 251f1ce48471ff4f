package command

import (
	"strings"
	"testing"
)

func TestEveryCommandDescribesItself(t *testing.T) {
	code, _, overview, notes := run(t, "--help")
	if code != 0 || notes != "" {
		t.Fatalf("it ends with %d and %q", code, notes)
	}
	for _, c := range commands() {
		if !strings.Contains(overview, "  "+c.name+" ") || !strings.Contains(overview, c.about) {
			t.Errorf("the overview leaves %s out", c.name)
		}
		for _, flag := range []string{"--help", "-h"} {
			code, _, text, notes := run(t, c.name, flag)
			if code != 0 || notes != "" || !strings.HasPrefix(text, "Usage: benchload "+c.name) || !strings.Contains(text, "\nFlags:\n") {
				t.Errorf("%s %s ends with %d, %q, %q", c.name, flag, code, notes, text)
			}
		}
	}
	for _, arguments := range []string{"generate blob -h", "load iot --seed 1 --help", "generate kline -h"} {
		code, _, text, _ := run(t, strings.Fields(arguments)...)
		if code != 0 || !strings.Contains(text, "--seed\n") || strings.Contains(text, "Give .") {
			t.Errorf("%s ends with %d: %s", arguments, code, text)
		}
	}
	if _, _, text, _ := run(t, "generate", "kline", "-h"); !strings.Contains(text, "--days\n") {
		t.Error("the help of kline leaves --days out")
	}
}

func TestNoFlagIsWithoutDescription(t *testing.T) {
	for _, arguments := range []string{"generate", "generate blob", "generate kline", "load", "queries", "query", "null-server", "calibrate", "version"} {
		_, _, text, _ := run(t, append(strings.Fields(arguments), "-h")...)
		lines := strings.Split(text, "\n")
		for i, line := range lines {
			if strings.HasPrefix(line, "  --") && (i+1 >= len(lines) || len(strings.TrimSpace(lines[i+1])) < 10) {
				t.Errorf("%s: the flag %s is not described", arguments, strings.TrimSpace(line))
			}
			if len([]rune(line)) > 101 {
				t.Errorf("%s: the line %q is too long", arguments, line)
			}
		}
	}
}
