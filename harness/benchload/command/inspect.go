package command

import (
	"encoding/json"
	"fmt"

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
func (i *inspectCommand) Run(c *console) error {
	system, err := i.target(false)
	if err != nil {
		return err
	}
	asked, ok := system.(target.Inspected)
	if !ok {
		return mistakef("--target %s cannot be inspected; ask its HTTP interface for the version and the counts.", system.Name())
	}
	found := inspection{Target: system.Name()}
	if found.Version, err = asked.Version(); err != nil {
		return fmt.Errorf("%s does not report its version: %w", system.Name(), err)
	}
	if i.Count {
		if found.Tables, err = asked.Count(); err != nil {
			return fmt.Errorf("cannot count the rows of %s: %w", system.Name(), err)
		}
	}
	return json.NewEncoder(c.out).Encode(found)
}
