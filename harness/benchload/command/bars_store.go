package command

import (
	"net/url"
	"strings"
	"time"

	"benchbook/benchload/bars"
	"benchbook/benchload/bars/mysql"
	"benchbook/benchload/bars/packedday"
	"benchbook/benchload/bars/postgres"
	"benchbook/benchload/request"
	"benchbook/benchload/target/wire"
)

// storeFlags say which store of bars is meant.
type storeFlags struct {
	name, url, through, database *string
	partitions                   *int64
	timeout                      *time.Duration
}

// storeKinds are the kinds of stores of bars, with the scheme of their addresses.
var storeKinds = []struct{ name, example string }{
	{"mysql", "mysql://root@127.0.0.1:3306"},
	{"postgresql", "postgres://postgres@127.0.0.1:5432"},
	{"redis", "redis://127.0.0.1:6379"},
}

// addStore adds the flags of a store to a command.
func addStore(flags *request.Flags) *storeFlags {
	var names []string
	for _, kind := range storeKinds {
		names = append(names, kind.name)
	}
	s := &storeFlags{
		name:     flags.Choice("target", "The kind of system: mysql is MariaDB too, redis is Kvrocks too.", "", names...),
		url:      flags.Text("url", "Where the server is.", "", "the address of a server, such as "+storeKinds[0].example),
		through:  flags.Text("through", "Reads through this packed-day service instead of asking redis itself.", "", "the address of benchload bars-service, such as http://127.0.0.1:8888"),
		database: flags.Text("database", "The database to use, which exists.", "benchbook", "the name of a database"),
		partitions: flags.Count("partitions", "Hash partitions of the table of mysql; as many as keep each below 100 MB if it is left out.",
			0, 1, 8192),
		timeout: flags.Duration("timeout", "How long to wait for an answer.", 30*time.Second),
	}
	flags.Require("target", "url")
	return s
}

// store makes the store; rows is how many it will hold.
func (s *storeFlags) store(rows int64) (bars.Store, error) {
	address, err := url.Parse(*s.url)
	scheme, _, _ := strings.Cut(s.example(), ":")
	if err != nil || address.Scheme != scheme || address.Port() == "" {
		return nil, request.Mistakef("--url %q is no address of %s; give one such as %s.", *s.url, *s.name, s.example())
	}
	if *s.through != "" && *s.name != "redis" {
		return nil, request.Mistakef("--through is for the packed days of redis, but --target is %s; leave it out.", *s.name)
	}
	user, password := address.User.Username(), ""
	if address.User != nil {
		password, _ = address.User.Password()
	}
	switch *s.name {
	case "mysql":
		partitions := *s.partitions
		if partitions == 0 {
			partitions = mysql.Partitions(rows)
		}
		if user == "" {
			user = "root"
		}
		return mysql.New(address.Host, *s.database, user, password, *s.timeout, partitions), nil
	case "postgresql":
		return postgres.New(address, *s.database, *s.timeout)
	}
	direct := packedday.NewDirect(address.Host, *s.timeout)
	if *s.through == "" {
		return direct, nil
	}
	service, err := wire.ParseAddress(*s.through)
	if err != nil {
		return nil, request.Mistakef("--through: %s.", strings.TrimSuffix(err.Error(), "."))
	}
	return packedday.NewRemote(service, direct, *s.timeout), nil
}

// example is an address of the kind of store.
func (s *storeFlags) example() string {
	for _, kind := range storeKinds {
		if kind.name == *s.name {
			return kind.example
		}
	}
	return ""
}
