package program

import (
	"reflect"
	"strings"
	"testing"
)

// commandNames returns the names of all commands, those of a dataset as "generate iot".
func commandNames(t *testing.T) []string {
	t.Helper()
	var names []string
	var visit func(kind reflect.Type, prefix string)
	visit = func(kind reflect.Type, prefix string) {
		for i := range kind.NumField() {
			field := kind.Field(i)
			if _, ok := field.Tag.Lookup("cmd"); !ok {
				continue
			}
			name := field.Tag.Get("name")
			if name == "" {
				name = strings.ToLower(field.Name)
			}
			names = append(names, prefix+name)
			visit(field.Type, prefix+name+" ")
		}
	}
	visit(reflect.TypeFor[commands](), "")
	return names
}

func TestEveryCommandDescribesItself(t *testing.T) {
	code, _, overview, notes := run(t, "--help")
	if code != 0 || notes != "" {
		t.Fatalf("it ends with %d and %q", code, notes)
	}
	names := commandNames(t)
	if len(names) < 24 {
		t.Fatalf("there are only %d commands", len(names))
	}
	for _, name := range names {
		if !strings.Contains(name, " ") && !strings.Contains(overview, "\n  "+name+" ") {
			t.Errorf("the overview leaves %s out", name)
		}
		for _, flag := range []string{"--help", "-h"} {
			code, _, text, notes := run(t, append(strings.Fields(name), flag)...)
			if code != 0 || notes != "" || !strings.HasPrefix(text, "Usage: benchload "+name) || !strings.Contains(text, "\nFlags:\n") {
				t.Errorf("%s %s ends with %d, %q, %q", name, flag, code, notes, text)
			}
		}
	}
	for _, arguments := range []string{"generate blob -h", "load iot --seed 1 --help"} {
		code, _, text, _ := run(t, strings.Fields(arguments)...)
		if code != 0 || !strings.Contains(text, "--seed=N ") {
			t.Errorf("%s ends with %d: %s", arguments, code, text)
		}
	}
}

func TestNoFlagIsWithoutDescription(t *testing.T) {
	for _, name := range commandNames(t) {
		_, _, text, _ := run(t, append(strings.Fields(name), "-h")...)
		lines := strings.Split(text, "\n")
		for i, line := range lines {
			if strings.HasPrefix(strings.TrimSpace(line), "--") && len(strings.Fields(line)) < 2 && (i+1 >= len(lines) || strings.TrimSpace(lines[i+1]) == "") {
				t.Errorf("%s: the flag %s is not described", name, strings.TrimSpace(line))
			}
			// A summary of usage is one line, however many flags are required.
			if len([]rune(line)) > 101 && !strings.HasSuffix(line, "[flags]") {
				t.Errorf("%s: the line %q is too long", name, line)
			}
		}
	}
}
