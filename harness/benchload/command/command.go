// Package command is the command line of a program that measures. The program benchload is
// one; the client of an experiment is another.
//
// A [Program] has commands, which are structs of flags as the library kong reads them, with
// a method Run. A command that measures embeds [Pace], whose flags are those of the loop, and
// [Place], where the system is. It opens the system from its registry with [Open], begins a
// [Workload], runs it, and finishes it, which writes the last event and decides the exit code:
// 0 if all was done, 1 if work failed, 2 for a mistake in the request ([Mistakef]).
package command

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"os/signal"
	"reflect"
	"runtime"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"benchbook/benchload/event"
)

// Program is a command line.
type Program struct {
	Name        string
	Version     string
	Description string // a sentence or two for --help
	// Commands is a struct whose fields are the commands, as kong reads them. A command is
	// a struct of flags with the method Run(*Console) error.
	Commands any
	Names    map[string]string // that help texts contain, as ${name}
	Details  map[string]string // more help of commands whose struct has no method Help
}

// With returns a program that has more commands, and more names in lists of names. A command
// that both have is a group, and gets the commands of both.
func (p Program) With(commands any, names map[string]string) Program {
	old := p
	p.Details, p.Names = map[string]string{}, map[string]string{}
	maps.Copy(p.Details, old.Details)
	maps.Copy(p.Names, old.Names)
	for name, more := range names {
		p.Names[name] += "; " + more
	}
	joined := p.joined(reflect.TypeOf(p.Commands), reflect.TypeOf(commands))
	p.Commands = reflect.New(joined).Elem().Interface()
	return p
}

// joined is a struct with the fields of both. The help of a group that both have is kept in
// the details, because a joined struct has no methods.
func (p Program) joined(one, other reflect.Type) reflect.Type {
	var fields []reflect.StructField
	for i := range one.NumField() {
		field := one.Field(i)
		if more, both := other.FieldByName(field.Name); both {
			if group, ok := reflect.New(field.Type).Interface().(kong.HelpProvider); ok {
				p.Details[commandName(field)] = group.Help()
			}
			field.Type = p.joined(field.Type, more.Type)
		}
		fields = append(fields, field)
	}
	for i := range other.NumField() {
		if field := other.Field(i); !hasField(one, field.Name) {
			fields = append(fields, field)
		}
	}
	return reflect.StructOf(fields)
}

// hasField reports whether a struct has a field of this name.
func hasField(kind reflect.Type, name string) bool {
	_, has := kind.FieldByName(name)
	return has
}

// commandName is the name of the command of a field.
func commandName(field reflect.StructField) string {
	return cmp.Or(field.Tag.Get("name"), strings.ToLower(field.Name))
}

// Exit codes.
const (
	exitFailed  = 1
	exitMistake = 2
)

// errReported ends the program with code 1 after an event that says why.
var errReported = errors.New("reported")

// Console is what every command runs with.
type Console struct {
	Context context.Context // ends when the user interrupts the program
	Out     io.Writer       // data and events
	Notes   io.Writer       // messages for people
	Program string          // name and version, for events
}

// Main does the command of the process's arguments and ends the process.
func (p Program) Main() {
	// A closed pipe is an error of the write that met it, not a signal.
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := p.Run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// Run does one command and returns the exit code.
func (p Program) Run(ctx context.Context, arguments []string, out, notes io.Writer) int {
	err := p.dispatch(&Console{ctx, out, notes, p.Name + " " + p.Version}, arguments)
	if err == nil || errors.Is(err, errHelped) {
		return 0
	}
	if errors.Is(err, errReported) {
		return exitFailed
	}
	_, _ = fmt.Fprintf(notes, "%s: %s\n", p.Name, strings.ReplaceAll(err.Error(), "\n", " "))
	if mistake := (mistake{}); errors.As(err, &mistake) {
		return exitMistake
	}
	return exitFailed
}

// common is what every program has beside its commands.
type common struct {
	Help    helpFlag       `short:"h" help:"Show this text."`
	Version versionCommand `cmd:"" help:"Print the versions of the program and of its events."`
}

// grammar is the commands of the program and the common ones, as one struct.
func (p Program) grammar() reflect.Type {
	help, _ := reflect.TypeFor[common]().FieldByName("Help")
	version, _ := reflect.TypeFor[common]().FieldByName("Version")
	fields := []reflect.StructField{help}
	for commands, i := reflect.TypeOf(p.Commands), 0; i < commands.NumField(); i++ {
		fields = append(fields, commands.Field(i))
	}
	return reflect.StructOf(append(fields, version))
}

// dispatch finds the command and does it.
func (p Program) dispatch(c *Console, arguments []string) error {
	grammar := reflect.New(named(p.grammar(), arguments)).Interface()
	parser, err := kong.New(grammar, append(flagMappers(), kong.Name(p.Name), kong.NoDefaultHelp(), kong.Writers(c.Out, c.Notes),
		kong.Description(p.Description), kong.ConfigureHelp(kong.HelpOptions{WrapUpperBound: 100, NoExpandSubcommands: true}),
		kong.ValueFormatter(spacedNames), kong.Vars(p.Names))...)
	if err != nil {
		return fmt.Errorf("the command line is defined wrongly: %w", err)
	}
	for _, child := range parser.Model.Children {
		child.Detail = cmp.Or(child.Detail, p.Details[child.Name])
	}
	parsed, err := parser.Parse(arguments)
	if err == nil {
		return parsed.Run(c)
	}
	if failed := (*kong.ParseError)(nil); errors.As(err, &failed) && !errors.Is(err, errHelped) {
		return p.parseMistake(failed)
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
		} else if arguments[0] == commandName(field) {
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
func (p Program) parseMistake(failed *kong.ParseError) error {
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
		return Mistakef("%s: %s", cmp.Or(path, "command"), Unknown(found, allowed))
	}
	if strings.HasPrefix(sentence, "expected one of") {
		example := strings.Join(append(names, allowed[len(allowed)-1]), " ")
		return Mistakef("%s needs one of %s; for example: %s %s.", cmp.Or(path, "the command line"), strings.Join(allowed, ", "), p.Name, example)
	}
	if !strings.HasSuffix(sentence, "?") {
		sentence = strings.TrimRight(sentence, ".") + "."
	}
	return Mistakef("%s See %s %s.", sentence, p.Name, strings.TrimSpace(path+" --help"))
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
func (versionCommand) Run(c *Console) error {
	name, version, _ := strings.Cut(c.Program, " ")
	return json.NewEncoder(c.Out).Encode(map[string]any{
		"name": name, "version": version, "schema": event.Version, "go": runtime.Version(),
	})
}

// Listen opens a port for a command that serves, and prints its address as an event.
func (c *Console) Listen(at string) (net.Listener, error) {
	listener, err := net.Listen("tcp", at)
	if err != nil {
		return nil, Mistakef("--listen %s cannot be used (%s); give a free port, or :0 for any.", at, err)
	}
	if err := json.NewEncoder(c.Out).Encode(map[string]any{
		"v": event.Version, "type": "listening", "url": "http://" + listener.Addr().String(),
	}); err != nil {
		_ = listener.Close()
		return nil, fmt.Errorf("cannot write the address: %w", err)
	}
	return listener, nil
}
