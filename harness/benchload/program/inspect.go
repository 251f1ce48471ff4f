package program

import (
	"encoding/json"
	"fmt"

	"benchbook/benchload/command"
	"benchbook/benchload/target"
)

// inspectCommand prints what a server is, and what it holds.
type inspectCommand struct {
	targetFlags
	Count bool `help:"Count the rows of each table and the values of each field, which reads the whole database."`
}

// Help describes it.
func (inspectCommand) Help() string {
	return "Prints one JSON line about a server that only a client library can ask."
}

// inspection is what is printed about a server.
type inspection struct {
	Target  string                  `json:"target"`
	Version string                  `json:"version"`
	Tables  map[string]target.Count `json:"tables,omitempty"`
}

// Run prints it.
func (i *inspectCommand) Run(c *command.Console) error {
	tested, err := i.target(false)
	if err != nil {
		return err
	}
	asked, ok := tested.(target.Inspected)
	if !ok {
		return command.Mistakef("--target %s cannot be inspected; ask its HTTP interface for the version and the counts.", tested.Name())
	}
	found := inspection{Target: tested.Name()}
	if found.Version, err = asked.Version(); err != nil {
		return fmt.Errorf("%s does not report its version: %w", tested.Name(), err)
	}
	if i.Count {
		if found.Tables, err = asked.Count(); err != nil {
			return fmt.Errorf("cannot count the rows of %s: %w", tested.Name(), err)
		}
	}
	return json.NewEncoder(c.Out).Encode(found)
}
