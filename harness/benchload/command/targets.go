package command

import (
	"slices"
	"strings"
	"time"

	"benchbook/benchload/request"
	"benchbook/benchload/target"
	"benchbook/benchload/target/cassandra"
	"benchbook/benchload/target/clickhouse"
	"benchbook/benchload/target/cnosdb"
	"benchbook/benchload/target/elasticsearch"
	"benchbook/benchload/target/influx"
	"benchbook/benchload/target/mongodb"
	"benchbook/benchload/target/null"
	"benchbook/benchload/target/opentsdb"
	"benchbook/benchload/target/postgres"
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
	url            string
	address        wire.Address // of targets that speak HTTP
	database, user string
	timeout        time.Duration
}

// kindOfTarget is a kind of system that can be loaded and asked. One that is
// reached through a client library of its own names the scheme of its addresses.
type kindOfTarget struct {
	name   string
	make   func(place) target.Target
	scheme string // empty for HTTP
}

// targets are the kinds of systems; a new one adds an entry.
var targets = []kindOfTarget{
	{"influx", func(p place) target.Target { return influx.New(p.address, p.database, p.timeout).As(p.user) }, ""},
	{"cnosdb", func(p place) target.Target { return cnosdb.New(p.address, p.database, p.user, p.timeout) }, ""},
	{"victoriametrics", func(p place) target.Target {
		return victoriametrics.New(p.address, p.database, p.user, p.timeout)
	}, ""},
	{"elasticsearch", func(p place) target.Target { return elasticsearch.New(p.address, p.user, p.timeout) }, ""},
	{"elasticsearch-refresh", func(p place) target.Target {
		return elasticsearch.New(p.address, p.user, p.timeout).Refreshing()
	}, ""},
	{"opentsdb", func(p place) target.Target { return opentsdb.New(p.address, p.user, p.timeout) }, ""},
	{"clickhouse", func(p place) target.Target { return clickhouse.New(p.address, p.database, p.user, p.timeout) }, ""},
	{"cassandra", func(p place) target.Target { return cassandra.New(p.url, p.database, p.user, p.timeout) }, "cassandra"},
	{"mongodb", func(p place) target.Target { return mongodb.New(p.url, p.database, p.user, p.timeout) }, "mongodb"},
	{"postgresql", func(p place) target.Target { return postgres.New(p.url, p.database, p.user, p.timeout) }, "postgres"},
	{"timescaledb", func(p place) target.Target {
		return postgres.New(p.url, p.database, p.user, p.timeout).Hyper()
	}, "postgres"},
	{"questdb", func(p place) target.Target { return questdb.New(p.address, p.user, p.timeout) }, ""},
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
func (t *targetFlags) target() (target.Target, error) { return t.made(false) }

// made makes the target; a dry one is never reached and needs no address.
func (t *targetFlags) made(dry bool) (target.Target, error) {
	if *t.name == "null" {
		return null.Null{}, nil
	}
	if *t.database == "" {
		return nil, request.Mistakef("--database is empty; give a name.")
	}
	kind := targets[slices.IndexFunc(targets, func(k kindOfTarget) bool { return k.name == *t.name })]
	at := place{url: *t.url, database: *t.database, user: *t.user, timeout: *t.timeout}
	if dry && *t.url == "" {
		return kind.make(at), nil
	}
	var err error
	if at.address, err = kind.address(*t.url); err != nil {
		return nil, err
	}
	return kind.make(at), nil
}

// address checks an address.
func (k kindOfTarget) address(url string) (wire.Address, error) {
	example := "http://127.0.0.1:8086"
	if k.scheme != "" {
		example = k.scheme + "://127.0.0.1:1234"
	}
	if url == "" {
		return wire.Address{}, request.Mistakef("--target %s needs --url; add the address of the server, such as --url %s.", k.name, example)
	}
	if k.scheme != "" {
		if rest, found := strings.CutPrefix(url, k.scheme+"://"); !found || rest == "" {
			return wire.Address{}, request.Mistakef("--url: %q is not an address for --target %s; give one such as %s.", url, k.name, example)
		}
		return wire.Address{}, nil
	}
	address, err := wire.ParseAddress(url)
	if err != nil {
		return address, request.Mistakef("--url: %s.", err)
	}
	return address, nil
}
