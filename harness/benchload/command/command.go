// Package command has one file for each command of the program.
package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"

	"benchbook/benchload/request"
)

// Version is the version of the program.
const Version = "0.1.0"

// Schema is the version of the events that the program writes.
const Schema = 1

// Exit codes.
const (
	exitFailed  = 1
	exitMistake = 2
)

// errReported ends the program with code 1 when an event has told why already.
var errReported = errors.New("reported")

// command is one thing that the program can do.
type command struct {
	name  string
	about string
	run   func(ctx context.Context, arguments []string, out, notes io.Writer) error
}

// commands are what the program can do; a new one adds an entry.
func commands() []command {
	return []command{
		{"generate", "Writes a dataset to standard output.", generate},
		{"load", "Loads a dataset, or a file, into a system.", loadCommand},
		{"queries", "Writes queries for a dataset.", queries},
		{"query", "Asks queries and measures.", queryCommand},
		{"bars-load", "Stores the dataset kline for reads of ranges.", barsLoad},
		{"bars-requests", "Writes requests for ranges of bars.", barsRequests},
		{"bars-read", "Reads ranges of bars and measures.", barsRead},
		{"bars-service", "Serves bars over HTTP from packed days in Redis.", barsService},
		{"inspect", "Tells a server's version and what it holds.", inspect},
		{"blob", "Puts, gets and deletes objects and measures.", objectsCommand},
		{"null-server", "A server that keeps nothing, for calibration.", nullServer},
		{"calibrate", "Measures what the client alone reaches here.", calibrate},
		{"version", "Prints the versions of the program and of its events.", version},
	}
}

// Run does one command and gives the exit code.
func Run(ctx context.Context, arguments []string, out, notes io.Writer) int {
	err := dispatch(ctx, arguments, out, notes)
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errReported):
		return exitFailed
	}
	if help := (request.Help{}); errors.As(err, &help) {
		if _, err := io.WriteString(out, help.Text); err != nil {
			return exitFailed
		}
		return 0
	}
	_, _ = fmt.Fprintf(notes, "benchload: %s\n", err)
	if mistake := (request.Mistake{}); errors.As(err, &mistake) {
		return exitMistake
	}
	return exitFailed
}

func dispatch(ctx context.Context, arguments []string, out, notes io.Writer) error {
	all := commands()
	names := make([]string, len(all))
	for i := range all {
		names[i] = all[i].name
	}
	if len(arguments) == 0 {
		return request.Mistakef("benchload needs a command, one of %s; for example: benchload version", strings.Join(names, ", "))
	}
	if request.IsHelp(arguments[0]) {
		return request.Help{Text: overview(all)}
	}
	place := slices.Index(names, arguments[0])
	if place < 0 {
		return request.Unknown("The command", arguments[0], names)
	}
	return all[place].run(ctx, arguments[1:], out, notes)
}

// overview describes the program.
func overview(all []command) string {
	var text strings.Builder
	text.WriteString("Usage: benchload COMMAND [DATASET] [--flag VALUE …]\n\n" +
		"Generates the datasets of database benchmarks, loads them and drives queries.\n\nCommands:\n")
	for _, c := range all {
		fmt.Fprintf(&text, "  %-13s  %s\n", c.name, c.about)
	}
	text.WriteString("\nbenchload COMMAND --help describes a command and all its flags; commands that take a dataset have\n" +
		"flags that depend on it: benchload generate blob --help. The guide is docs/benchload.md.\n")
	return text.String()
}

// version prints one line about the program.
func version(_ context.Context, arguments []string, out, _ io.Writer) error {
	if err := request.NewFlags("version", "Prints the versions of the program and of its events as one JSON line.").Parse(arguments); err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(map[string]any{
		"name": "benchload", "version": Version, "schema": Schema, "go": runtime.Version(),
	})
}
