package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"benchbook/benchload/command"
	"benchbook/benchload/event"
	"benchbook/benchload/system"
	"benchbook/benchload/target/wire"
	"benchbook/experiments/kline-mysql-vs-kv/client/bars"
	"benchbook/experiments/kline-mysql-vs-kv/client/kline"
)

// barStoreFlags say which store of bars is meant.
type barStoreFlags struct {
	Target barStore `required:"" placeholder:"KIND" help:"The kind of system: ${names}. mysql is MariaDB too, redis is Kvrocks too. null is none at all, in the client itself."`
	command.Place
	Through    string `placeholder:"URL" help:"Read through this packed-day service, such as http://127.0.0.1:8888, instead of asking redis itself."`
	Partitions int64  `range:"1:8192" placeholder:"N" help:"Hash partitions of the table of mysql. Default: as many as keep each below 100 MB."`
}

// barStore is the name of a kind of store.
type barStore string

// Names returns the allowed ones.
func (barStore) Names() []string { return barStores.Names() }

// store creates the store of the days of a dataset.
func (f *barStoreFlags) store(days *bars.Days) (bars.Store, error) {
	at := barPlace{Place: f.Place.Place(""), days: days, partitions: f.Partitions}
	if f.Through != "" && f.Target != "redis" {
		return nil, command.Mistakef("--through is for the packed days of redis, but --target is %s; leave it out.", f.Target)
	}
	if f.Through != "" {
		service, err := wire.ParseAddress(f.Through)
		if err != nil {
			return nil, command.Mistakef("--through: %s.", strings.TrimSuffix(err.Error(), "."))
		}
		at.through = &service
	}
	return command.Open(barStores, string(f.Target), at)
}

// barsLoadCommand stores a kline dataset, whole days of a stock at a time.
type barsLoadCommand struct {
	klineFlags
	barStoreFlags
	command.Pace
	BatchRows int64 `default:"5000" range:"1:4194304" placeholder:"N" help:"Rows of a write, which is one operation, rounded down to whole days of 240, but at least one. Default: ${default}."`
	Whole     bool  `help:"Go on after --duration until the whole dataset is loaded. Rates leave out what that adds."`
}

// Help describes it.
func (barsLoadCommand) Help() string {
	return "Stores the dataset kline in the order of the published load: all days of a stock, then the next stock. In mysql and " +
		"postgresql a bar is a row of the published table; in redis a day of a stock is one packed field of a hash. With " +
		"--duration later days follow those of the dataset. Events are JSON lines (docs/benchload-events.md)."
}

// Run stores.
func (b *barsLoadCommand) Run(c *command.Console) error {
	days, store, err := b.days(&b.barStoreFlags)
	if err != nil {
		return err
	}
	pace, err := b.Loop(0, b.Seed)
	if err != nil {
		return err
	}
	daysOfWrite, rows := max(b.BatchRows/kline.DayBars, 1), days.Rows()
	if b.Whole {
		pace.Rows = rows
	}
	if b.Duration > 0 {
		rows = 0
	}
	w, err := b.Workload(c, event.Start{Workload: "load", Target: store.Name(), BatchRows: daysOfWrite * kline.DayBars, Rows: rows})
	if err != nil {
		return err
	}
	defer w.Close()
	w.Begin()
	if failure := system.AsFailure(store.Prepare()); failure != nil {
		return w.Refuse(failure, rows)
	}
	summary, ended, err := w.Run(bars.Load(days, store, pace, daysOfWrite), "write")
	if err != nil {
		return err
	}
	if rows > 0 {
		summary.RowsUnsent = rows - summary.Rows - summary.RowsRefused
	}
	return w.Finish(summary, ended)
}

// days returns the days of the dataset and the store of them.
func (f klineFlags) days(stores *barStoreFlags) (*bars.Days, bars.Store, error) {
	extent, err := f.Extent()
	if err != nil {
		return nil, nil, err
	}
	days := bars.NewDays(extent)
	store, err := stores.store(days)
	return days, store, err
}

// barsReadCommand asks the requests of a file and measures, or checks the answers.
type barsReadCommand struct {
	klineFlags
	barStoreFlags
	command.Pace
	Requests  string `required:"" placeholder:"FILE" help:"The requests, as benchload bars-requests writes them."`
	Warmup    int64  `default:"0" placeholder:"N" help:"Reads before the clock starts; their operation is warmup."`
	Undecoded bool   `help:"Take any answer of redis for a good one without decoding it, as the published reader did."`
	Answers   int64  `range:"1:16777216" placeholder:"N" help:"Instead of measuring, compare this number of answers with the dataset, bar by bar, and write the digest of each."`
}

// Help describes it.
func (barsReadCommand) Help() string {
	return "Events are JSON lines (docs/benchload-events.md). Each request is asked once, or with --duration again and again. An answer " +
		"with another number of bars than the dataset has is a failure."
}

// Run reads.
func (b *barsReadCommand) Run(c *command.Console) error {
	days, store, err := b.days(&b.barStoreFlags)
	if err != nil {
		return err
	}
	pace, err := b.Loop(0, b.Seed)
	if err != nil {
		return err
	}
	requests, digest, err := readRequests(b.Requests)
	if err != nil {
		return err
	}
	if b.Answers > 0 {
		return checkBars(c, days, store, requests[:min(b.Answers, int64(len(requests)))], digest)
	}
	start := event.Start{Workload: "kline", Target: store.Name(), Warmup: b.Warmup}
	if b.Duration == 0 {
		start.Operations = int64(len(requests))
	}
	w, err := b.Workload(c, start)
	if err != nil {
		return err
	}
	defer w.Close()
	return w.Ask(bars.Read(requests, store, pace, !b.Undecoded), b.Warmup, digest)
}

// readRequests reads the file of requests.
func readRequests(path string) ([]bars.Request, string, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, "", command.Mistakef("--requests cannot be opened: %s; make it with benchload bars-requests.", err)
	}
	defer file.Close()
	requests, digest, err := bars.ReadRequests(file)
	if err == nil && len(requests) == 0 {
		err = fmt.Errorf("it is empty")
	}
	if err != nil {
		return nil, "", command.Mistakef("--requests %s: %s; make it with benchload bars-requests.", path, err)
	}
	return requests, digest, nil
}

// checkBars compares answers with the dataset and writes their digests.
func checkBars(c *command.Console, days *bars.Days, store bars.Store, requests []bars.Request, digest string) error {
	w := command.NewWorkload(c, event.Start{Workload: "answers", Target: store.Name(), Workers: 1, Operations: int64(len(requests))})
	w.Begin()
	begun := time.Now()
	answered, rows, failed := bars.Answers(c.Context, days, store, requests, w.Events)
	return w.Finish(event.Summary{
		DurationNS: int64(time.Since(begun)), Operations: answered, Rows: rows, Errors: failed, Bottleneck: "server", Digest: &digest,
	}, failed > 0)
}
