// Package programtest helps to test the client of an experiment: benchload with more commands.
package programtest

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"strings"
	"testing"

	"benchbook/benchload/command"
	"benchbook/benchload/nullserver"
)

// Run does a command and returns its exit code, its output and its messages.
func Run(program command.Program, arguments string) (code int, out, notes string) {
	var outBuffer, notesBuffer bytes.Buffer
	code = program.Run(context.Background(), strings.Fields(arguments), &outBuffer, &notesBuffer)
	return code, outBuffer.String(), notesBuffer.String()
}

// Last returns the last event of an output.
func Last(t *testing.T, out string) map[string]any {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(out), "\n")
	var found map[string]any
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &found); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return found
}

// NullServer starts a server that keeps nothing, until the end of a test, and returns it with its URL.
func NullServer(t *testing.T) (*nullserver.Server, string) {
	t.Helper()
	server := nullserver.New()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Close)
	return server, "http://" + listener.Addr().String()
}
