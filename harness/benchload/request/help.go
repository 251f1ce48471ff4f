package request

import (
	"fmt"
	"strings"
)

// Help is how a command ends that was asked how it is used: nothing is wrong,
// and nothing was done.
type Help struct{ Text string }

// Error is the text, for Help travels as an error does.
func (h Help) Error() string { return h.Text }

// IsHelp tells if an argument asks how a command is used.
func IsHelp(argument string) bool {
	return argument == "--help" || argument == "-help" || argument == "-h"
}

// helpWidth is where the lines of a help text are broken.
const helpWidth = 100

// help describes the command and every flag, in the order in which they were made.
func (f *Flags) help() string {
	var text strings.Builder
	fmt.Fprintf(&text, "Usage: benchload %s [--flag VALUE …]\n\n%s\n\nFlags:\n", f.command, fold(f.about, ""))
	for _, name := range f.order {
		flag := f.known[name]
		fmt.Fprintf(&text, "  --%s\n%s\n", name, fold(flag.words(), "        "))
	}
	text.WriteString("  --help, -h\n        Show this text.\n")
	return text.String()
}

// words are all sentences about a flag.
func (f *flag) words() string {
	words := f.about
	if f.hint != "" {
		words += " Give " + f.hint + "."
	}
	switch {
	case f.required:
		words += " Required."
	case f.standard != "":
		words += " Default: " + f.standard + "."
	}
	return words
}

// fold breaks a text into lines and puts an indent before each.
func fold(text, indent string) string {
	var lines []string
	for _, paragraph := range strings.Split(text, "\n") {
		line := indent
		for _, word := range strings.Fields(paragraph) {
			if len(line) > len(indent) && len(line)+1+len(word) > helpWidth {
				lines = append(lines, line)
				line = indent
			}
			if len(line) > len(indent) {
				line += " "
			}
			line += word
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}
