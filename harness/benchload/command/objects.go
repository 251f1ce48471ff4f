package command

import (
	"encoding/hex"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"benchbook/benchload/dataset/blob"
	"benchbook/benchload/event"
	"benchbook/benchload/object"
	"benchbook/benchload/object/files"
	"benchbook/benchload/object/null"
	"benchbook/benchload/object/postgresql"
	"benchbook/benchload/object/redis"
	"benchbook/benchload/object/s3"
	"benchbook/benchload/object/seaweedfs"
)

// objectStoreFlags say which store is meant.
type objectStoreFlags struct {
	Target   string        `required:"" enum:"${object_stores}" placeholder:"KIND" help:"The kind of store: ${enum}. null is none at all, in the client itself. Keys of s3 come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, the password of postgresql from PGPASSWORD."`
	URL      string        `name:"url" placeholder:"URL" help:"The address of the store, such as http://127.0.0.1:9333; of files, a folder for each disk, separated by commas; null has none."`
	Database string        `default:"benchbook" placeholder:"NAME" help:"The database of postgresql, the bucket of s3. Default: ${default}."`
	Sync     string        `default:"none" enum:"none,data,folder" help:"What is on the device when files or seaweedfs acknowledge: nothing, the bytes, or for files the name in its folder too. Other stores decide themselves."`
	Timeout  time.Duration `default:"30s" placeholder:"LENGTH" help:"How long to wait for an answer. Default: ${default}."`
}

// objectStoreKind is a kind of store that objects can be put into.
type objectStoreKind struct {
	name    string
	example string // of an address
	create  func(f *objectStoreFlags, set *blob.Set) (object.Store, error)
}

// objectStores are the kinds of stores; a new one adds an entry.
var objectStores = []objectStoreKind{
	{"files", "/data/objects", func(f *objectStoreFlags, _ *blob.Set) (object.Store, error) {
		return &files.Store{Folders: strings.Split(f.URL, ","), Sync: files.Sync(slices.Index([]string{"none", "data", "folder"}, f.Sync))}, nil
	}},
	{"postgresql", "postgres://postgres@127.0.0.1:5432", func(f *objectStoreFlags, _ *blob.Set) (object.Store, error) {
		return postgresql.New(f.URL, f.Database, f.Timeout)
	}},
	{"redis", "redis://127.0.0.1:6379", func(f *objectStoreFlags, _ *blob.Set) (object.Store, error) {
		return redis.New(f.URL, f.Timeout)
	}},
	{"s3", "http://127.0.0.1:9000", func(f *objectStoreFlags, _ *blob.Set) (object.Store, error) {
		return s3.New(f.URL, f.Database, os.Getenv("AWS_ACCESS_KEY_ID"), os.Getenv("AWS_SECRET_ACCESS_KEY"), f.Timeout)
	}},
	{"seaweedfs", "http://127.0.0.1:9333", func(f *objectStoreFlags, _ *blob.Set) (object.Store, error) {
		return seaweedfs.New(f.URL, f.Sync != "none", f.Timeout)
	}},
	{"null", "", func(_ *objectStoreFlags, set *blob.Set) (object.Store, error) { return null.Store{Set: set}, nil }},
}

// objectStoreNames returns the names of the kinds of stores.
func objectStoreNames() []string {
	var names []string
	for _, kind := range objectStores {
		names = append(names, kind.name)
	}
	return names
}

// store creates the store of a set.
func (f *objectStoreFlags) store(set *blob.Set) (object.Store, error) {
	kind := objectStores[slices.IndexFunc(objectStores, func(k objectStoreKind) bool { return k.name == f.Target })]
	if f.URL == "" && kind.example != "" {
		return nil, mistakef("--url is empty; give an address for --target %s such as %s.", kind.name, kind.example)
	}
	store, err := kind.create(f, set)
	if err != nil {
		return nil, mistakef("--url %q is not an address for --target %s (%v); give one such as %s.", f.URL, kind.name, err, kind.example)
	}
	return store, nil
}

// blobCommand puts, gets and deletes objects and measures, or reads them all back.
type blobCommand struct {
	blobFlags
	objectStoreFlags
	paceFlags
	Do         string `required:"" enum:"put,get,delete,mixed,check" placeholder:"WHAT" help:"Put all objects, get or delete those that are kept, a mix of the three, or check: read all of them back once, unmeasured."`
	Mix        string `default:"put=1,get=2,delete=1" placeholder:"MIX" help:"Shares of a mix. Default: ${default}."`
	Kept       string `placeholder:"FILE" help:"The file that lists which objects the store should hold, under which names. It is created and kept up to date. Required, except for null, which holds every object of the dataset."`
	Operations int64  `range:"1:" placeholder:"N" help:"How many operations. Default: one per object."`
	Batch      int    `default:"1" range:"1:100000" placeholder:"N" help:"Objects of a put: one transaction, or one after the other in a store that has none over several objects."`
}

// Help describes it.
func (blobCommand) Help() string {
	return "Uses the objects of the dataset blob. Events are JSON lines (docs/benchload-events.md). What a get returns is compared with what " +
		"was put. The exit code is 1 if anything failed or differs."
}

// Run does the operations.
func (b *blobCommand) Run(c *console) error {
	set, err := b.set()
	if err != nil {
		return err
	}
	pace, err := b.pace(b.Operations, b.Seed)
	if err != nil {
		return err
	}
	work := &object.Work{Set: set, Batch: b.Batch, Pace: pace}
	if work.Store, err = b.store(set); err != nil {
		return err
	}
	if work.Mix, err = mixOf(b.Do, b.Mix); err != nil {
		return err
	}
	if work.Kept, err = b.held(set); err != nil {
		return err
	}
	if len(work.Kept) == 0 && b.Do != "put" && b.Do != "mixed" {
		return mistakef("--kept %s lists no objects to %s; put some first: benchload blob --do put …", b.Kept, b.Do)
	}
	w, err := b.workload(c, event.Start{
		Workload: "blob-" + b.Do, Target: work.Store.Name(), BatchRows: int64(b.Batch), Rows: b.Count, Operations: b.Operations,
	})
	if err != nil {
		return err
	}
	defer w.close()
	work.Record = w.kept
	w.begin()
	if b.Do == "check" {
		return checkObjects(w, work)
	}
	return b.measure(w, work)
}

// held returns which objects the store should hold.
func (b *blobCommand) held(set *blob.Set) ([]object.Entry, error) {
	if b.Target == "null" {
		if b.Do == "put" {
			return nil, nil
		}
		return null.Store{Set: set}.Held(), nil
	}
	if b.Kept == "" {
		return nil, mistakef("--kept is missing; name a file for the list of objects, such as --kept kept.")
	}
	entries, err := object.ReadKept(b.Kept)
	if err != nil {
		return nil, mistakef("--kept cannot be read: %s; give another path.", err)
	}
	return entries, nil
}

// measure does the operations and keeps the list of objects up to date.
func (b *blobCommand) measure(w *workload, work *object.Work) error {
	if err := work.Store.Prepare(); err != nil {
		return fmt.Errorf("cannot prepare the store: %w", err)
	}
	listed := b.Target != "null"
	// Until the work is done, the content of the store is unknown, and the list of an earlier phase would be wrong.
	if listed {
		if err := os.Remove(b.Kept); err != nil && !os.IsNotExist(err) {
			return fmt.Errorf("cannot write --kept: %w", err)
		}
	}
	summary, err := work.Run(w.console.ctx, w.events)
	if err != nil {
		return err
	}
	if listed {
		if err := object.WriteKept(b.Kept, work.Kept); err != nil {
			return fmt.Errorf("cannot write --kept: %w", err)
		}
	}
	return w.finish(summary, summary.Errors > 0)
}

// checkObjects reads everything back.
func checkObjects(w *workload, work *object.Work) error {
	begun := time.Now()
	found, err := object.Check(w.console.ctx, work.Set, work.Store, work.Pace.Workers, work.Kept)
	if err != nil {
		return fmt.Errorf("cannot read every object back: %w", err)
	}
	digest := hex.EncodeToString(found.SHA256[:])
	w.events.Checked(event.Checked{
		Objects: int64(len(work.Kept)), Read: found.Objects, Bytes: found.Bytes, Missing: found.Missing,
		Different: found.Different, Back: found.Back, SHA256: digest, Expected: hex.EncodeToString(found.Expected[:]),
	})
	return w.finish(event.Summary{
		DurationNS: int64(time.Since(begun)), Operations: found.Objects, Rows: found.Objects, Bytes: found.Bytes,
		Errors: found.Missing + found.Different + found.Back, Bottleneck: "server", Digest: &digest,
	}, false)
}

// mixOf returns the mix that is asked for.
func mixOf(do, text string) (object.Mix, error) {
	if kind := slices.Index(object.Kinds[:], do); kind >= 0 {
		return object.Only(object.Kind(kind)), nil
	}
	var mix object.Mix
	for part := range strings.SplitSeq(text, ",") {
		name, number, _ := strings.Cut(part, "=")
		value, err := strconv.ParseFloat(number, 64)
		kind := slices.Index(object.Kinds[:], name)
		if kind < 0 || err != nil || !(value >= 0) || value > 1e6 {
			return mix, mistakef("--mix: %q is not a share of a mix; write shares such as put=1,get=8,delete=1.", part)
		}
		mix[kind] = value
	}
	if mix[object.Put]+mix[object.Get]+mix[object.Delete] == 0 {
		return mix, mistakef("--mix %s has no share above 0; write shares such as put=1,get=8,delete=1.", text)
	}
	return mix, nil
}
