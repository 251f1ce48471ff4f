package command

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"benchbook/benchload/request"
	"benchbook/benchload/target"
)

// inspection is what is printed about a server.
type inspection struct {
	Target  string                  `json:"target"`
	Version string                  `json:"version"`
	Tables  map[string]target.Count `json:"tables,omitempty"`
}

// inspect prints what a server is, and what it holds.
func inspect(_ context.Context, arguments []string, out, _ io.Writer) error {
	flags := request.NewFlags("inspect",
		"Prints one JSON line about a server that only a client library can ask: its version and, with --count, the rows of each table and the values of each field.")
	targets := addTarget(flags)
	count := flags.Switch("count", "Counts what the database holds, which reads all of it.")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	system, err := targets.target()
	if err != nil {
		return err
	}
	asked, ok := system.(target.Inspected)
	if !ok {
		return request.Mistakef("--target %s is not asked like this: its own HTTP interface tells its version and counts.", system.Name())
	}
	found := inspection{Target: system.Name()}
	if found.Version, err = asked.Version(); err != nil {
		return fmt.Errorf("%s does not tell its version: %w", system.Name(), err)
	}
	if *count {
		if found.Tables, err = asked.Count(); err != nil {
			return fmt.Errorf("%s cannot be counted: %w", system.Name(), err)
		}
	}
	return json.NewEncoder(out).Encode(found)
}
