package command

import (
	"slices"
	"time"

	"benchbook/benchload/request"
	"benchbook/benchload/target"
	"benchbook/benchload/target/cnosdb"
	"benchbook/benchload/target/influx"
	"benchbook/benchload/target/null"
	"benchbook/benchload/target/questdb"
	"benchbook/benchload/target/victoriametrics"
	"benchbook/benchload/target/wire"
)

// targetFlags say which system is meant.
type targetFlags struct {
	flags                     *request.Flags
	name, url, database, user *string
	timeout                   *time.Duration
}

// place is where and as whom a target is used.
type place struct {
	address        wire.Address
	database, user string
	timeout        time.Duration
}

// kindOfTarget is a kind of system that can be loaded and asked.
type kindOfTarget struct {
	name string
	make func(place) target.Target
}

// targets are the kinds of systems; a new one adds an entry.
var targets = []kindOfTarget{
	{"influx", func(p place) target.Target { return influx.New(p.address, p.database, p.timeout).As(p.user) }},
	{"cnosdb", func(p place) target.Target { return cnosdb.New(p.address, p.database, p.user, p.timeout) }},
	{"victoriametrics", func(p place) target.Target {
		return victoriametrics.New(p.address, p.database, p.user, p.timeout)
	}},
	{"questdb", func(p place) target.Target { return questdb.New(p.address, p.user, p.timeout) }},
}

// addTarget adds the target's flags to a command.
func addTarget(flags *request.Flags) *targetFlags {
	names := []string{"null"}
	for _, kind := range targets {
		names = append(names, kind.name)
	}
	t := &targetFlags{
		flags:    flags,
		name:     flags.Choice("target", "The kind of system; null is none at all, in the client itself.", "", names...),
		url:      flags.Text("url", "Where the server is.", "", "the address of a server, such as http://127.0.0.1:8086"),
		database: flags.Text("database", "The database to use; it is made if there is none.", "benchbook", "the name of a database"),
		user:     flags.Text("user", "Whom to name, for servers that ask for it; for cnosdb root without a password if it is left out.", "", "NAME or NAME:PASSWORD"),
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
	made := place{address, *t.database, *t.user, *t.timeout}
	kind := targets[slices.IndexFunc(targets, func(k kindOfTarget) bool { return k.name == *t.name })]
	return kind.make(made), nil
}
