package command

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"benchbook/benchload/system"
)

// colour is the name of a kind of system in tests.
type colour string

func (colour) Names() []string { return colours.Names() }

// colours is a registry whose systems are texts.
var colours = system.Kinds[system.Place, string]{
	{Name: "red", Example: "red://127.0.0.1:1", Open: func(p system.Place) (string, error) { return "red of " + p.User, nil }},
	{Name: "green", Example: "http://127.0.0.1:1", Open: func(system.Place) (string, error) { return "", errors.New("it has no port.") }},
	{Name: "null", Open: func(system.Place) (string, error) { return "nothing", nil }},
}

// paint is a command in tests.
type paint struct {
	Target colour `required:"" placeholder:"KIND" help:"One of ${names}."`
	Place
	Pace
}

// Run opens the system.
func (p *paint) Run(c *Console) error {
	opened, err := Open(colours, string(p.Target), p.Place.Place("anna"))
	if err == nil {
		_, err = c.Out.Write([]byte(opened))
	}
	return err
}

// painter is a program in tests.
var painter = Program{Name: "painter", Version: "7", Description: "Paints.", Commands: struct {
	Paint  paint `cmd:"" help:"Paint."`
	Groups struct {
		Wall paint `cmd:"" help:"Paint a ${what}."`
	} `cmd:"" help:"Paint a lot."`
}{}, Names: map[string]string{"what": "wall"}}

func TestAProgramOpensSystemsFromItsRegistry(t *testing.T) {
	for arguments, want := range map[string]struct {
		code int
		text string
	}{
		"paint --target red --url red://host:2":           {0, "red of anna"},
		"paint --target null":                             {0, "nothing"},
		"groups wall --target null":                       {0, "nothing"},
		"paint --target blue":                             {2, `painter: --target: found "blue"; allowed are red, green, null.`},
		"paint --target nul":                              {2, `did you mean "null"?`},
		"paint --target red":                              {2, "painter: --target red needs --url; add the address of the server, such as --url red://127.0.0.1:1."},
		"paint --target red --url green://host:2":         {2, `--url "green://host:2" is not an address for --target red; give one such as red://127.0.0.1:1.`},
		"paint --target red --url red://":                 {2, "is not an address"},
		"paint --target red --url red://host --database=": {2, "--database is empty"},
		"paint --target green --url https://host":         {2, "for --target green (it has no port); give one such as http://127.0.0.1:1."},
		"paint --help":                                    {0, "One of red, green, null."},
		"groups --help":                                   {0, "Paint a wall."},
		"version":                                         {0, `"name":"painter","schema":1,"version":"7"}`},
		"":                                                {2, "the command line needs one of paint, groups, version; for example: painter version."},
	} {
		var out, notes bytes.Buffer
		code := painter.Run(context.Background(), strings.Fields(arguments), &out, &notes)
		if text := out.String() + notes.String(); code != want.code || !strings.Contains(text, want.text) {
			t.Errorf("painter %s ends with %d and %s, want %d and %s", arguments, code, text, want.code, want.text)
		}
	}
}

func TestOnlyTheNamedCommandHasItsFlagsRead(t *testing.T) {
	whole := painter.grammar()
	wall := named(whole, []string{"groups", "wall", "--target"})
	if wall.NumField() != 2 || wall.Field(1).Name != "Groups" || wall.Field(1).Type.NumField() != 1 {
		t.Errorf("the grammar of groups wall is %v", wall)
	}
	for _, arguments := range [][]string{nil, {"--help"}, {"pant"}} {
		if named(whole, arguments) != whole {
			t.Errorf("%q names no command, but commands are left out", arguments)
		}
	}
}

// helped is a group with more help.
type helped struct {
	Floor paint `cmd:"" help:"Paint a floor."`
}

func (helped) Help() string { return "Floors need two coats." }

func TestAProgramWithMoreCommands(t *testing.T) {
	small := Program{Name: "painter", Version: "7", Commands: struct {
		Groups helped `cmd:"" help:"Paint a lot."`
	}{}, Names: map[string]string{"what": "wall"}}
	more := small.With(struct {
		Groups struct {
			Door paint `cmd:"" help:"Paint a door, not a ${what}."`
		} `cmd:""`
		Paint paint `cmd:"" help:"Paint."`
	}{}, map[string]string{"what": "window"})
	for arguments, words := range map[string][]string{
		"groups --help":             {"groups floor", "groups door", "not a wall; window.", "Floors need two coats."},
		"--help":                    {"Paint a lot.", "Paint."},
		"groups door --target null": {"nothing"},
		"paint --target null":       {"nothing"},
	} {
		var out, notes bytes.Buffer
		code := more.Run(context.Background(), strings.Fields(arguments), &out, &notes)
		for _, word := range words {
			if code != 0 || !strings.Contains(out.String(), word) {
				t.Errorf("painter %s ends with %d and %s%s, without %q", arguments, code, out.String(), notes.String(), word)
			}
		}
	}
	var out, notes bytes.Buffer
	if code := small.Run(context.Background(), []string{"paint"}, &out, &notes); code != 2 {
		t.Errorf("the smaller program has the command too: %s", out.String())
	}
}
