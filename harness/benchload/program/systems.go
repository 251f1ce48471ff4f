package program

import (
	"os"
	"slices"
	"strings"

	"benchbook/benchload/command"
	"benchbook/benchload/dataset/blob"
	"benchbook/benchload/object"
	"benchbook/benchload/object/files"
	objectnull "benchbook/benchload/object/null"
	"benchbook/benchload/object/postgresql"
	"benchbook/benchload/object/redis"
	"benchbook/benchload/object/s3"
	"benchbook/benchload/object/seaweedfs"
	"benchbook/benchload/system"
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
	Target targetName `required:"" placeholder:"KIND" help:"The kind of system: ${names}. null is none at all, in the client itself."`
	command.Place
	User string `placeholder:"NAME[:PASSWORD]" help:"The user, for servers that require one. Default for cnosdb: root without a password."`
}

// targetName is the name of a kind of system.
type targetName string

// Names returns the allowed ones.
func (targetName) Names() []string { return targets.Names() }

// target creates the target. A dry one is never connected to and needs no address.
func (f *targetFlags) target(dry bool) (target.Target, error) {
	at := f.Place.Place(f.User)
	at.Dry = dry
	return command.Open(targets, string(f.Target), at)
}

// targets are the systems that take rows and answer queries; a new one adds an entry.
var targets = system.Kinds[system.Place, target.Target]{
	{Name: "null", Open: func(system.Place) (target.Target, error) { return null.Null{}, nil }},
	{Name: "influx", Example: overHTTP, Open: served(func(a wire.Address, p system.Place) target.Target {
		return influx.New(a, p.Database, p.Timeout).As(p.User)
	})},
	{Name: "cnosdb", Example: overHTTP, Open: served(func(a wire.Address, p system.Place) target.Target {
		return cnosdb.New(a, p.Database, p.User, p.Timeout)
	})},
	{Name: "victoriametrics", Example: overHTTP, Open: served(func(a wire.Address, p system.Place) target.Target {
		return victoriametrics.New(a, p.Database, p.User, p.Timeout)
	})},
	{Name: "elasticsearch", Example: overHTTP, Open: served(func(a wire.Address, p system.Place) target.Target {
		return elasticsearch.New(a, p.User, p.Timeout)
	})},
	{Name: "elasticsearch-refresh", Example: overHTTP, Open: served(func(a wire.Address, p system.Place) target.Target {
		return elasticsearch.New(a, p.User, p.Timeout).Refreshing()
	})},
	{Name: "opentsdb", Example: overHTTP, Open: served(func(a wire.Address, p system.Place) target.Target {
		return opentsdb.New(a, p.User, p.Timeout)
	})},
	{Name: "clickhouse", Example: overHTTP, Open: served(func(a wire.Address, p system.Place) target.Target {
		return clickhouse.New(a, p.Database, p.User, p.Timeout)
	})},
	{Name: "cassandra", Example: "cassandra://127.0.0.1:9042", Open: func(p system.Place) (target.Target, error) {
		return cassandra.New(p.URL, p.Database, p.User, p.Timeout), nil
	}},
	{Name: "mongodb", Example: "mongodb://127.0.0.1:27017", Open: func(p system.Place) (target.Target, error) {
		return mongodb.New(p.URL, p.Database, p.User, p.Timeout), nil
	}},
	{Name: "postgresql", Example: overPostgres, Open: func(p system.Place) (target.Target, error) { return postgres.New(p) }},
	{Name: "timescaledb", Example: overPostgres, Open: func(p system.Place) (target.Target, error) { return postgres.NewHyper(p) }},
	{Name: "questdb", Example: overHTTP, Open: served(func(a wire.Address, p system.Place) target.Target {
		return questdb.New(a, p.User, p.Timeout)
	})},
}

// Examples of addresses.
const (
	overHTTP     = "http://127.0.0.1:8086"
	overRedis    = "redis://127.0.0.1:6379"
	overPostgres = "postgres://postgres@127.0.0.1:5432"
)

// served opens systems that speak HTTP. A dry one may have no address.
func served(create func(wire.Address, system.Place) target.Target) func(system.Place) (target.Target, error) {
	return func(p system.Place) (target.Target, error) {
		var address wire.Address
		if p.URL != "" {
			var err error
			if address, err = wire.ParseAddress(p.URL); err != nil {
				return nil, err
			}
		}
		return create(address, p), nil
	}
}

// objectPlace is where objects are kept.
type objectPlace struct {
	system.Place
	set  *blob.Set
	sync string
}

// objectStores are the systems that keep objects; a new one adds an entry.
var objectStores = system.Kinds[objectPlace, object.Store]{
	{Name: "files", Example: "/data/objects", Open: func(p objectPlace) (object.Store, error) {
		return &files.Store{Folders: strings.Split(p.URL, ","), Sync: files.Sync(slices.Index([]string{"none", "data", "folder"}, p.sync))}, nil
	}},
	{Name: "postgresql", Example: overPostgres, Open: func(p objectPlace) (object.Store, error) { return postgresql.New(p.Place) }},
	{Name: "redis", Example: overRedis, Open: func(p objectPlace) (object.Store, error) {
		return redis.New(p.URL, p.Timeout)
	}},
	{Name: "s3", Example: "http://127.0.0.1:9000", Open: func(p objectPlace) (object.Store, error) {
		return s3.New(p.URL, p.Database, os.Getenv("AWS_ACCESS_KEY_ID"), os.Getenv("AWS_SECRET_ACCESS_KEY"), p.Timeout)
	}},
	{Name: "seaweedfs", Example: "http://127.0.0.1:9333", Open: func(p objectPlace) (object.Store, error) {
		return seaweedfs.New(p.URL, p.sync != "none", p.Timeout)
	}},
	{Name: "null", Open: func(p objectPlace) (object.Store, error) { return objectnull.Store{Set: p.set}, nil }},
}
