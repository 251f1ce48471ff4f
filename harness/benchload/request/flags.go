package request

import (
	"sort"
	"strings"
)

// Flags is the set of flags of one command.
type Flags struct {
	command string
	about   string // what the command does
	known   map[string]*flag
	order   []string // of the flags, as they were made
}

// flag is one flag: how to set it, and if it takes a value.
type flag struct {
	set      func(text string) error
	isSwitch bool
	required bool
	about    string // what it is for
	hint     string // what a value looks like
	standard string // what it is if it is not given; empty if that says nothing
	given    bool
}

// NewFlags starts the flags of a command, which is named in messages; about says
// in whole sentences what it does.
func NewFlags(command, about string) *Flags {
	return &Flags{command: command, about: about, known: map[string]*flag{}}
}

// add makes a flag known.
func (f *Flags) add(name, about, hint, standard string, set func(string) error) *flag {
	made := &flag{set: set, about: about, hint: hint, standard: standard}
	f.known[name] = made
	f.order = append(f.order, name)
	return made
}

// Switch is a flag without a value.
func (f *Flags) Switch(name, about string) *bool {
	value := false
	made := f.add(name, about, "", "", func(text string) error {
		switch text {
		case "", "true":
			value = true
		case "false":
			value = false
		default:
			return Mistakef("--%s is a switch and takes no value, but %q was given; leave the value out.", name, text)
		}
		return nil
	})
	made.isSwitch = true
	return &value
}

// Require says that the flag has to be given.
func (f *Flags) Require(names ...string) {
	for _, name := range names {
		f.known[name].required = true
	}
}

// Given tells if a flag was set.
func (f *Flags) Given(name string) bool { return f.known[name].given }

// names are the flags that exist, sorted.
func (f *Flags) names() []string {
	names := make([]string, 0, len(f.known))
	for name := range f.known {
		names = append(names, "--"+name)
	}
	sort.Strings(names)
	return names
}

// Parse sets the flags from arguments like --name value and --name=value.
func (f *Flags) Parse(arguments []string) error {
	for len(arguments) > 0 {
		argument := arguments[0]
		arguments = arguments[1:]
		if IsHelp(argument) {
			return Help{f.help()}
		}
		name, value, joined := strings.Cut(strings.TrimLeft(argument, "-"), "=")
		if !strings.HasPrefix(argument, "-") || name == "" {
			return Mistakef("%s takes flags only after its name, but found %q; its flags are %s.",
				f.command, argument, strings.Join(f.names(), ", "))
		}
		found, ok := f.known[name]
		if !ok {
			return Unknown("A flag of "+f.command, "--"+name, f.names())
		}
		if !joined && !found.isSwitch {
			if len(arguments) == 0 {
				return Mistakef("--%s has no value; give it %s.", name, found.hint)
			}
			value, arguments = arguments[0], arguments[1:]
		}
		if err := found.set(value); err != nil {
			return err
		}
		found.given = true
	}
	for _, name := range f.names() {
		if flag := f.known[name[2:]]; flag.required && !flag.given {
			return Mistakef("%s needs %s; add it with %s.", f.command, name, flag.hint)
		}
	}
	return nil
}
