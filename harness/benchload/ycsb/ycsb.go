// Package ycsb does the core workloads of the Yahoo! Cloud Serving Benchmark (Cooper et
// al., SoCC 2010): reads, updates, inserts, scans and read-modify-writes of records.
package ycsb

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"benchbook/benchload/command"
	"benchbook/benchload/drive"
	"benchbook/benchload/event"
)

// mostFailures ends the work: a store that is full or broken fails every operation.
const mostFailures = 1000

// Command loads records, does the operations of a core workload, or checks all records.
type Command struct {
	Target target `required:"" placeholder:"KIND" help:"The kind of store: ${names}. null is none at all, in the client itself. The password of postgresql comes from PGPASSWORD."`
	command.Place
	command.Pace
	Do           doing        `required:"" placeholder:"WHAT" help:"load: insert all records. check: read every record once. Or the operations of a core workload: ${names}."`
	Records      int64        `default:"1000" range:"1:" placeholder:"N" help:"Records that load inserts. Default: ${default}."`
	Operations   int64        `range:"1:" placeholder:"N" help:"How many operations. Default: one per record."`
	Fields       int          `default:"10" range:"1:1000" placeholder:"N" help:"Fields of a record. Default: ${default}."`
	FieldBytes   int          `default:"100" range:"20:1048576" placeholder:"N" help:"Bytes of a field. Default: ${default}."`
	Distribution distribution `default:"own" placeholder:"NAME" help:"How records are chosen: ${names}. Default: that of the workload."`
	ScanLongest  int          `default:"100" range:"1:100000" placeholder:"N" help:"Most records of a scan. Default: ${default}."`
	Seed         uint64       `default:"1" placeholder:"N" help:"The seed of all choices. Default: ${default}."`
	Kept         string       `placeholder:"FILE" help:"The file with the number of records that the store holds. load creates it, and inserts keep it up to date. Required, except for null."`
}

// Help describes it.
func (Command) Help() string {
	return "Every value follows from its record, field and version, so each value that is read is checked. Events are JSON lines " +
		"(docs/benchload-events.md). The exit code is 1 if anything failed or differs."
}

// doing is what to do.
type doing string

// Names returns the allowed ones.
func (doing) Names() []string {
	names := []string{"load", "check"}
	for _, one := range core {
		names = append(names, one.name)
	}
	return names
}

// Run does the operations.
func (y *Command) Run(c *command.Console) error {
	store, err := command.Open(stores, string(y.Target), place{y.Place.Place(""), y.Fields, y.FieldBytes})
	if err != nil {
		return err
	}
	held, err := y.held()
	if err != nil {
		return err
	}
	work := newWork(y, held)
	operations := y.Operations
	if operations == 0 && (y.Duration == 0 || work.sequential) {
		operations = work.whole
	}
	pace, err := y.Loop(operations, y.Seed)
	if err != nil {
		return err
	}
	w, err := y.Workload(c, event.Start{Workload: "ycsb-" + string(y.Do), Target: store.Name(), Rows: y.Records, Operations: operations})
	if err != nil {
		return err
	}
	defer w.Close()
	w.Begin()
	if y.Do == "load" {
		if err := store.Prepare(); err != nil {
			return fmt.Errorf("cannot prepare the store: %w", err)
		}
	}
	summary, _, err := w.Run(&drive.Work{
		Pace: pace, Rule: drive.Rule{KeepGoing: true, Most: mostFailures},
		Client: drive.Clients(store, func(conn Conn, worker int) drive.Client { return work.client(conn, worker) }),
	}, work.names()...)
	if err != nil {
		return err
	}
	if err := y.keep(work.ledger.held()); err != nil {
		return err
	}
	return w.Finish(summary, summary.Errors > 0)
}

// held returns how many records the store holds.
func (y *Command) held() (int64, error) {
	switch {
	case y.Do == "load":
		return 0, nil
	case y.Target == "null":
		return y.Records, nil
	case y.Kept == "":
		return 0, command.Mistakef("--kept is missing; name the file that --do load wrote, such as --kept kept.")
	}
	content, err := os.ReadFile(y.Kept)
	held, wrong := strconv.ParseInt(strings.TrimSpace(string(content)), 10, 64)
	if err != nil || wrong != nil || held < 1 {
		return 0, command.Mistakef("--kept %s does not hold the number of records; load some first: benchload ycsb --do load …", y.Kept)
	}
	return held, nil
}

// keep notes how many records the store holds.
func (y *Command) keep(held int64) error {
	if y.Kept == "" {
		return nil
	}
	if err := os.WriteFile(y.Kept, fmt.Appendln(nil, held), 0o644); err != nil {
		return fmt.Errorf("cannot write --kept: %w", err)
	}
	return nil
}
