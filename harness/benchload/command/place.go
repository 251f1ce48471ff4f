package command

import (
	"time"

	"benchbook/benchload/system"
)

// Place are the flags of where a system is.
type Place struct {
	URL      string        `name:"url" placeholder:"URL" help:"The address of the system, such as http://127.0.0.1:8086. null has none."`
	Database string        `default:"benchbook" placeholder:"NAME" help:"The database. Default: ${default}."`
	Timeout  time.Duration `default:"30s" placeholder:"LENGTH" help:"How long to wait for an answer. Default: ${default}."`
}

// Place returns the place; user is empty unless a command has a flag for it.
func (f *Place) Place(user string) system.Place {
	return system.Place{URL: f.URL, Database: f.Database, User: user, Timeout: f.Timeout}
}

// Open creates the system of a name from the registry of a workload.
func Open[P system.Located, S any](kinds system.Kinds[P, S], name string, at P) (S, error) {
	opened, err := kinds.Open(name, at)
	if err != nil {
		return opened, mistake{err.Error() + "."}
	}
	return opened, nil
}
