package command

import (
	"slices"
	"strings"
	"time"

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
	Target   string        `required:"" enum:"${targets}" placeholder:"KIND" help:"The kind of system: ${enum}. null is none at all, in the client itself."`
	URL      string        `name:"url" placeholder:"URL" help:"The address of the server, such as http://127.0.0.1:8086."`
	Database string        `default:"benchbook" placeholder:"NAME" help:"The database. It is created if it does not exist. Default: ${default}."`
	User     string        `placeholder:"NAME[:PASSWORD]" help:"The user, for servers that require one. Default for cnosdb: root without a password."`
	Timeout  time.Duration `default:"30s" placeholder:"LENGTH" help:"How long to wait for an answer. Default: ${default}."`
}

// place is where and as whom a target is used.
type place struct {
	url            string
	address        wire.Address // of targets that speak HTTP
	database, user string
	timeout        time.Duration
}

// targetKind is a kind of system that can be loaded and asked.
type targetKind struct {
	name   string
	create func(place) target.Target
	scheme string // of its addresses; empty for HTTP
}

// targets are the kinds of systems; a new one adds an entry.
var targets = []targetKind{
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

// targetNames returns the names of the kinds of systems.
func targetNames() []string {
	names := []string{"null"}
	for _, kind := range targets {
		names = append(names, kind.name)
	}
	return names
}

// target creates the target. A dry one is never connected to and needs no address.
func (f *targetFlags) target(dry bool) (target.Target, error) {
	if f.Target == "null" {
		return null.Null{}, nil
	}
	if f.Database == "" {
		return nil, mistakef("--database is empty; give a name.")
	}
	kind := targets[slices.IndexFunc(targets, func(k targetKind) bool { return k.name == f.Target })]
	at := place{url: f.URL, database: f.Database, user: f.User, timeout: f.Timeout}
	if dry && f.URL == "" {
		return kind.create(at), nil
	}
	var err error
	if at.address, err = kind.address(f.URL); err != nil {
		return nil, err
	}
	return kind.create(at), nil
}

// address checks an address.
func (k targetKind) address(url string) (wire.Address, error) {
	example := "http://127.0.0.1:8086"
	if k.scheme != "" {
		example = k.scheme + "://127.0.0.1:1234"
	}
	if url == "" {
		return wire.Address{}, mistakef("--target %s needs --url; add the address of the server, such as --url %s.", k.name, example)
	}
	if k.scheme != "" {
		if rest, found := strings.CutPrefix(url, k.scheme+"://"); !found || rest == "" {
			return wire.Address{}, mistakef("--url: %q is not an address for --target %s; give one such as %s.", url, k.name, example)
		}
		return wire.Address{}, nil
	}
	address, err := wire.ParseAddress(url)
	if err != nil {
		return address, mistakef("--url: %s.", err)
	}
	return address, nil
}
