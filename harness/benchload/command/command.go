// Package command has one file for each command of the program.
package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sort"
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

// commands are what the program can do.
var commands = map[string]func(ctx context.Context, arguments []string, out, notes io.Writer) error{
	"version":     version,
	"generate":    generate,
	"queries":     queries,
	"load":        loadCommand,
	"query":       queryCommand,
	"null-server": nullServer,
	"calibrate":   calibrate,
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
	_, _ = fmt.Fprintf(notes, "benchload: %s\n", err)
	if mistake := (request.Mistake{}); errors.As(err, &mistake) {
		return exitMistake
	}
	return exitFailed
}

func dispatch(ctx context.Context, arguments []string, out, notes io.Writer) error {
	names := make([]string, 0, len(commands))
	for name := range commands {
		names = append(names, name)
	}
	sort.Strings(names)
	if len(arguments) == 0 {
		return request.Mistakef("benchload needs a command, one of %s; for example: benchload version", strings.Join(names, ", "))
	}
	command, ok := commands[arguments[0]]
	if !ok {
		return request.Unknown("The command", arguments[0], names)
	}
	return command(ctx, arguments[1:], out, notes)
}

// version prints one line about the program.
func version(_ context.Context, arguments []string, out, _ io.Writer) error {
	if err := request.NewFlags("version").Parse(arguments); err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(map[string]any{
		"name": "benchload", "version": Version, "schema": Schema, "go": runtime.Version(),
	})
}
