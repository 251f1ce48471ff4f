package command

import (
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"benchbook/benchload/bars"
	"benchbook/benchload/bars/mysql"
	"benchbook/benchload/bars/null"
	"benchbook/benchload/bars/packedday"
	"benchbook/benchload/bars/postgres"
	"benchbook/benchload/dataset/kline"
	"benchbook/benchload/event"
	"benchbook/benchload/target"
	"benchbook/benchload/target/wire"
)

// barStoreFlags say which store of bars is meant.
type barStoreFlags struct {
	Target     string        `required:"" enum:"${bar_stores}" placeholder:"KIND" help:"The kind of system: ${enum}. mysql is MariaDB too, redis is Kvrocks too. null is none at all, in the client itself."`
	URL        string        `name:"url" placeholder:"URL" help:"The address of the server, such as mysql://root@127.0.0.1:3306; null has none."`
	Through    string        `placeholder:"URL" help:"Read through this packed-day service, such as http://127.0.0.1:8888, instead of asking redis itself."`
	Database   string        `default:"benchbook" placeholder:"NAME" help:"The database, which must exist. Default: ${default}."`
	Partitions int64         `range:"1:8192" placeholder:"N" help:"Hash partitions of the table of mysql. Default: as many as keep each below 100 MB."`
	Timeout    time.Duration `default:"30s" placeholder:"LENGTH" help:"How long to wait for an answer. Default: ${default}."`
}

// barStores are the kinds of stores of bars, each with an address.
var barStores = []struct{ name, example string }{
	{"mysql", "mysql://root@127.0.0.1:3306"},
	{"postgresql", "postgres://postgres@127.0.0.1:5432"},
	{"redis", "redis://127.0.0.1:6379"},
	{"null", ""},
}

// barStoreNames returns the names of the kinds of stores of bars.
func barStoreNames() []string {
	var names []string
	for _, kind := range barStores {
		names = append(names, kind.name)
	}
	return names
}

// store creates the store of the days of a dataset.
func (f *barStoreFlags) store(days *bars.Days) (bars.Store, error) {
	if f.Target == "null" {
		return null.Store{Days: days}, nil
	}
	address, err := url.Parse(f.URL)
	scheme, _, _ := strings.Cut(f.example(), ":")
	if err != nil || address.Scheme != scheme || address.Port() == "" {
		return nil, mistakef("--url %q is not an address of %s; give one such as %s.", f.URL, f.Target, f.example())
	}
	if f.Through != "" && f.Target != "redis" {
		return nil, mistakef("--through is for the packed days of redis, but --target is %s; leave it out.", f.Target)
	}
	switch f.Target {
	case "mysql":
		user, password := address.User.Username(), ""
		if address.User != nil {
			password, _ = address.User.Password()
		}
		if user == "" {
			user = "root"
		}
		partitions := f.Partitions
		if partitions == 0 {
			partitions = mysql.Partitions(days.Rows())
		}
		return mysql.New(address.Host, f.Database, user, password, f.Timeout, partitions), nil
	case "postgresql":
		return postgres.New(address, f.Database, f.Timeout)
	}
	direct := packedday.NewDirect(address.Host, f.Timeout)
	if f.Through == "" {
		return direct, nil
	}
	service, err := wire.ParseAddress(f.Through)
	if err != nil {
		return nil, mistakef("--through: %s.", strings.TrimSuffix(err.Error(), "."))
	}
	return packedday.NewRemote(service, direct, f.Timeout), nil
}

// example returns an address of the kind of store.
func (f *barStoreFlags) example() string {
	for _, kind := range barStores {
		if kind.name == f.Target {
			return kind.example
		}
	}
	return ""
}

// barsLoadCommand stores a kline dataset, whole days of a stock at a time.
type barsLoadCommand struct {
	klineFlags
	barStoreFlags
	paceFlags
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
func (b *barsLoadCommand) Run(c *console) error {
	days, store, err := b.days(&b.barStoreFlags)
	if err != nil {
		return err
	}
	pace, err := b.pace(0, b.Seed)
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
	w, err := b.workload(c, event.Start{Workload: "load", Target: store.Name(), BatchRows: daysOfWrite * kline.DayBars, Rows: rows})
	if err != nil {
		return err
	}
	defer w.close()
	w.begin()
	if failure := target.AsFailure(store.Prepare()); failure != nil {
		return w.refuse(failure, rows)
	}
	summary, ended, err := w.run(bars.Load(days, store, pace, daysOfWrite), "write")
	if err != nil {
		return err
	}
	if rows > 0 {
		summary.RowsUnsent = rows - summary.Rows - summary.RowsRefused
	}
	return w.finish(summary, ended)
}

// days returns the days of the dataset and the store of them.
func (f klineFlags) days(stores *barStoreFlags) (*bars.Days, bars.Store, error) {
	extent, err := f.extent()
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
	paceFlags
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
func (b *barsReadCommand) Run(c *console) error {
	days, store, err := b.days(&b.barStoreFlags)
	if err != nil {
		return err
	}
	pace, err := b.pace(0, b.Seed)
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
	w, err := b.workload(c, start)
	if err != nil {
		return err
	}
	defer w.close()
	return w.ask(bars.Read(requests, store, pace, !b.Undecoded), b.Warmup, digest)
}

// readRequests reads the file of requests.
func readRequests(path string) ([]bars.Request, string, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, "", mistakef("--requests cannot be opened: %s; make it with benchload bars-requests.", err)
	}
	defer file.Close()
	requests, digest, err := bars.ReadRequests(file)
	if err == nil && len(requests) == 0 {
		err = fmt.Errorf("it is empty")
	}
	if err != nil {
		return nil, "", mistakef("--requests %s: %s; make it with benchload bars-requests.", path, err)
	}
	return requests, digest, nil
}

// checkBars compares answers with the dataset and writes their digests.
func checkBars(c *console, days *bars.Days, store bars.Store, requests []bars.Request, digest string) error {
	w := newWorkload(c, event.Start{Workload: "answers", Target: store.Name(), Workers: 1, Operations: int64(len(requests))})
	w.begin()
	begun := time.Now()
	answered, rows, failed := bars.Answers(c.ctx, days, store, requests, w.events)
	return w.finish(event.Summary{
		DurationNS: int64(time.Since(begun)), Operations: answered, Rows: rows, Errors: failed, Bottleneck: "server", Digest: &digest,
	}, failed > 0)
}
