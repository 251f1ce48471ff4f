package program

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// example is one command of the guide and what it prints there.
type example struct{ command, output string }

// examples reads the consoles of the guide.
func examples(t *testing.T) []example {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "benchload.md"))
	if err != nil {
		t.Skip("the guide is not beside the program's source") // as in a build of the program alone
	}
	var all []example
	for _, block := range strings.Split(string(text), "```console\n")[1:] {
		block, _, _ = strings.Cut(block, "```")
		for _, part := range strings.Split("\n"+block, "\n$ ")[1:] {
			command, output, _ := strings.Cut(part, "\n")
			all = append(all, example{command, strings.TrimSuffix(output, "\n")})
		}
	}
	return all
}

// freePort returns a port on which no server listens.
func freePort(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return strconv.Itoa(listener.Addr().(*net.TCPAddr).Port)
}

// The examples of the guide are run by one shell, in order, and print the output that it shows.
func TestTheExamplesOfTheGuide(t *testing.T) {
	all := examples(t)
	if len(all) < 15 {
		t.Fatalf("the guide has %d examples", len(all))
	}
	folder := t.TempDir()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	const mark = "== next =="
	script := "export " + asProgram + "=1; PATH=" + folder + ":$PATH; trap 'kill %1 2>/dev/null' EXIT\n"
	free := freePort(t)
	for _, e := range all {
		script += strings.ReplaceAll(e.command, "18086", free) + "\necho '" + mark + "'\n"
	}
	if err := os.Symlink(program, filepath.Join(folder, "benchload")); err != nil {
		t.Fatal(err)
	}
	shell := exec.Command("bash", "-c", script)
	shell.Dir = folder
	out, err := shell.CombinedOutput()
	if err != nil && shell.ProcessState.ExitCode() != 0 {
		t.Errorf("the shell ended with %v", err)
	}
	outputs := strings.Split(string(out), mark)
	if len(outputs) != len(all)+1 {
		t.Fatalf("%d outputs of %d examples:\n%s", len(outputs)-1, len(all), out)
	}
	for i, e := range all {
		got := strings.TrimSpace(outputs[i])
		pattern := regexp.QuoteMeta(strings.TrimSpace(e.output))
		pattern = strings.ReplaceAll(pattern, "…", "[^\n]*")
		if strings.HasSuffix(strings.TrimSpace(e.output), "…") {
			pattern += ".*"
		}
		if !regexp.MustCompile("(?s)^" + pattern + "$").MatchString(got) {
			t.Errorf("$ %s\nprints\n%.600s\nwant\n%s", e.command, got, e.output)
		}
	}
}
