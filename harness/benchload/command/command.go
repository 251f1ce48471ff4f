// Package command is the command line of the program: a file per command, and the
// flags that commands share.
package command

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"runtime"
	"strings"

	"github.com/alecthomas/kong"

	"benchbook/benchload/event"
)

// Version is the version of the program.
const Version = "0.1.0"

// program is the name and version of the program in events.
const program = "benchload " + Version

// Exit codes.
const (
	exitFailed  = 1
	exitMistake = 2
)

// errReported ends the program with code 1 after an event that says why.
var errReported = errors.New("reported")

// commands are what the program can do; a new one adds an entry.
type commands struct {
	Help helpFlag `short:"h" help:"Show this text."`

	Generate     generateCommand     `cmd:"" help:"Write a dataset to standard output."`
	Load         loadCommand         `cmd:"" help:"Load a dataset, or a file, into a system."`
	Queries      queriesCommand      `cmd:"" help:"Write queries for a dataset."`
	Query        queryCommand        `cmd:"" help:"Ask queries and measure."`
	BarsLoad     barsLoadCommand     `cmd:"" name:"bars-load" help:"Store the dataset kline for reads of ranges."`
	BarsRequests barsRequestsCommand `cmd:"" name:"bars-requests" help:"Write requests for ranges of bars."`
	BarsRead     barsReadCommand     `cmd:"" name:"bars-read" help:"Read ranges of bars and measure."`
	BarsService  barsServiceCommand  `cmd:"" name:"bars-service" help:"Serve bars over HTTP from packed days in Redis."`
	Inspect      inspectCommand      `cmd:"" help:"Print a server's version and what it holds."`
	Blob         blobCommand         `cmd:"" help:"Put, get and delete objects and measure."`
	NullServer   nullServerCommand   `cmd:"" name:"null-server" help:"Serve requests and keep nothing, for calibration."`
	Calibrate    calibrateCommand    `cmd:"" help:"Measure what the client alone reaches on this machine."`
	Version      versionCommand      `cmd:"" help:"Print the versions of the program and of its events."`
}

// console is what every command runs with.
type console struct {
	ctx   context.Context
	out   io.Writer // data and events
	notes io.Writer // messages for people
}

// Run does one command and returns the exit code.
func Run(ctx context.Context, arguments []string, out, notes io.Writer) int {
	err := dispatch(&console{ctx, out, notes}, arguments)
	if err == nil || errors.Is(err, errHelped) {
		return 0
	}
	if errors.Is(err, errReported) {
		return exitFailed
	}
	_, _ = fmt.Fprintf(notes, "benchload: %s\n", strings.ReplaceAll(err.Error(), "\n", " "))
	if mistake := (mistake{}); errors.As(err, &mistake) {
		return exitMistake
	}
	return exitFailed
}

// dispatch finds the command and does it.
func dispatch(c *console, arguments []string) error {
	grammar := reflect.New(named(reflect.TypeFor[commands](), arguments)).Interface()
	parser, err := kong.New(grammar, append(flagMappers(), kong.Name("benchload"), kong.NoDefaultHelp(), kong.Writers(c.out, c.notes),
		kong.Description("Generates the datasets of database benchmarks, loads them and drives queries. The guide is docs/benchload.md."),
		kong.ConfigureHelp(kong.HelpOptions{WrapUpperBound: 100, NoExpandSubcommands: true}), kong.ValueFormatter(spacedNames), kong.Vars(helpNames()))...)
	if err != nil {
		return fmt.Errorf("the command line is defined wrongly: %w", err)
	}
	parsed, err := parser.Parse(arguments)
	if err == nil {
		return parsed.Run(c)
	}
	if failed := (*kong.ParseError)(nil); errors.As(err, &failed) && !errors.Is(err, errHelped) {
		return parseMistake(failed)
	}
	return err
}

// named leaves only the commands that the first arguments name: kong works on every flag
// that it knows before it parses, which took 25 ms with the flags of all commands.
func named(grammar reflect.Type, arguments []string) reflect.Type {
	if len(arguments) == 0 || grammar.Kind() != reflect.Struct {
		return grammar
	}
	var kept []reflect.StructField
	found := false
	for i := range grammar.NumField() {
		field := grammar.Field(i)
		_, isCommand := field.Tag.Lookup("cmd")
		if !isCommand {
			kept = append(kept, field)
		} else if arguments[0] == cmp.Or(field.Tag.Get("name"), strings.ToLower(field.Name)) {
			field.Type = named(field.Type, arguments[1:])
			kept, found = append(kept, field), true
		}
	}
	if !found {
		return grammar
	}
	return reflect.StructOf(kept)
}

// parseMistake is an error of parsing as a sentence that names what is allowed.
func parseMistake(failed *kong.ParseError) error {
	names, allowed := []string(nil), []string(nil)
	for _, step := range failed.Context.Path {
		if step.Command != nil {
			names = append(names, step.Command.Name)
		}
		if node := step.Node(); node != nil {
			allowed = nil
			for _, child := range node.Children {
				allowed = append(allowed, child.Name)
			}
		}
	}
	path, sentence := strings.Join(names, " "), failed.Error()
	if found, isArgument := strings.CutPrefix(sentence, "unexpected argument "); isArgument && len(allowed) > 0 {
		found, _, _ = strings.Cut(found, ", did you mean")
		return mistakef("%s: %s", cmp.Or(path, "command"), unknown(found, allowed))
	}
	if strings.HasPrefix(sentence, "expected one of") {
		example := strings.Join(append(names, allowed[len(allowed)-1]), " ")
		return mistakef("%s needs one of %s; for example: benchload %s.", cmp.Or(path, "the command line"), strings.Join(allowed, ", "), example)
	}
	if !strings.HasSuffix(sentence, "?") {
		sentence = strings.TrimRight(sentence, ".") + "."
	}
	return mistakef("%s See benchload %s.", sentence, strings.TrimSpace(path+" --help"))
}

// spacedNames puts spaces between the allowed names in the help of a flag.
func spacedNames(flag *kong.Value) string {
	names := flag.EnumSlice()
	return strings.ReplaceAll(flag.Help, strings.Join(names, ","), strings.Join(names, ", "))
}

// errHelped ends a command that printed its help.
var errHelped = errors.New("helped")

// helpFlag prints how a command is used.
type helpFlag bool

// BeforeReset prints the help before kong looks for missing flags.
func (helpFlag) BeforeReset(parsed *kong.Context) error {
	if err := parsed.PrintUsage(false); err != nil {
		return err
	}
	return errHelped
}

// versionCommand prints one line about the program.
type versionCommand struct{}

// Run prints it.
func (versionCommand) Run(c *console) error {
	return json.NewEncoder(c.out).Encode(map[string]any{
		"name": "benchload", "version": Version, "schema": event.Version, "go": runtime.Version(),
	})
}
