package command

import (
	"time"

	"benchbook/benchload/request"
	"benchbook/benchload/target"
	"benchbook/benchload/target/influx"
	"benchbook/benchload/target/null"
	"benchbook/benchload/target/wire"
)

// targetFlags say which system is meant.
type targetFlags struct {
	flags               *request.Flags
	name, url, database *string
	timeout             *time.Duration
}

// addTarget adds the target's flags to a command.
func addTarget(flags *request.Flags) *targetFlags {
	t := &targetFlags{
		flags:    flags,
		name:     flags.Choice("target", "The kind of system.", "", "influx", "null"),
		url:      flags.Text("url", "Where the server is.", "", "the address of a server, such as http://127.0.0.1:8086"),
		database: flags.Text("database", "The database to use; it is made if there is none.", "benchbook", "the name of a database"),
		timeout:  flags.Duration("timeout", "How long to wait for an answer.", 30*time.Second),
	}
	flags.Require("target")
	return t
}

// target makes the target.
func (t *targetFlags) target() (target.Target, error) {
	if *t.name == "null" {
		return null.Null{}, nil
	}
	if *t.url == "" {
		return nil, request.Mistakef("--target %s needs --url; add the address of the server, such as --url http://127.0.0.1:8086.", *t.name)
	}
	address, err := wire.ParseAddress(*t.url)
	if err != nil {
		return nil, request.Mistakef("--url: %s.", err)
	}
	if *t.database == "" {
		return nil, request.Mistakef("--database is empty; give a name.")
	}
	return influx.New(address, *t.database, *t.timeout), nil
}
