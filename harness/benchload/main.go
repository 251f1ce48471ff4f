// Benchload generates the datasets of database benchmarks, loads them and
// drives queries. It writes JSON lines, described in docs/benchload-events.md.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"benchbook/benchload/command"
)

func main() {
	// A closed pipe is an error of the write that met it, not a signal.
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := command.Run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
