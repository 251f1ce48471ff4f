package program

import (
	"encoding/hex"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"benchbook/benchload/command"
	"benchbook/benchload/dataset/blob"
	"benchbook/benchload/event"
	"benchbook/benchload/object"
	"benchbook/benchload/object/null"
)

// objectStoreFlags say which store is meant.
type objectStoreFlags struct {
	Target objectStore `required:"" placeholder:"KIND" help:"The kind of store: ${names}. null is none at all, in the client itself. The --url of files is a folder for each disk, separated by commas; --database is the bucket of s3. Keys of s3 come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, the password of postgresql from PGPASSWORD."`
	command.Place
	Sync string `default:"none" enum:"none,data,folder" help:"What is on the device when files or seaweedfs acknowledge: nothing, the bytes, or for files the name in its folder too. Other stores decide themselves."`
}

// objectStore is the name of a kind of store.
type objectStore string

// Names returns the allowed ones.
func (objectStore) Names() []string { return objectStores.Names() }

// store creates the store of a set.
func (f *objectStoreFlags) store(set *blob.Set) (object.Store, error) {
	return command.Open(objectStores, string(f.Target), objectPlace{f.Place.Place(""), set, f.Sync})
}

// blobCommand puts, gets and deletes objects and measures, or reads them all back.
type blobCommand struct {
	blobFlags
	objectStoreFlags
	command.Pace
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
func (b *blobCommand) Run(c *command.Console) error {
	set, err := b.set()
	if err != nil {
		return err
	}
	pace, err := b.Loop(b.Operations, b.Seed)
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
		return command.Mistakef("--kept %s lists no objects to %s; put some first: benchload blob --do put …", b.Kept, b.Do)
	}
	w, err := b.Workload(c, event.Start{
		Workload: "blob-" + b.Do, Target: work.Store.Name(), BatchRows: int64(b.Batch), Rows: b.Count, Operations: b.Operations,
	})
	if err != nil {
		return err
	}
	defer w.Close()
	work.Record = w.Record
	w.Begin()
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
		return nil, command.Mistakef("--kept is missing; name a file for the list of objects, such as --kept kept.")
	}
	entries, err := object.ReadKept(b.Kept)
	if err != nil {
		return nil, command.Mistakef("--kept cannot be read: %s; give another path.", err)
	}
	return entries, nil
}

// measure does the operations and keeps the list of objects up to date.
func (b *blobCommand) measure(w *command.Workload, work *object.Work) error {
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
	summary, err := work.Run(w.Console.Context, w.Events)
	if err != nil {
		return err
	}
	if listed {
		if err := object.WriteKept(b.Kept, work.Kept); err != nil {
			return fmt.Errorf("cannot write --kept: %w", err)
		}
	}
	return w.Finish(summary, summary.Errors > 0)
}

// checkObjects reads everything back.
func checkObjects(w *command.Workload, work *object.Work) error {
	begun := time.Now()
	found, err := object.Check(w.Console.Context, work.Set, work.Store, work.Pace.Workers, work.Kept)
	if err != nil {
		return fmt.Errorf("cannot read every object back: %w", err)
	}
	digest := hex.EncodeToString(found.SHA256[:])
	w.Events.Checked(event.Checked{
		Objects: int64(len(work.Kept)), Read: found.Objects, Bytes: found.Bytes, Missing: found.Missing,
		Different: found.Different, Back: found.Back, SHA256: digest, Expected: hex.EncodeToString(found.Expected[:]),
	})
	return w.Finish(event.Summary{
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
			return mix, command.Mistakef("--mix: %q is not a share of a mix; write shares such as put=1,get=8,delete=1.", part)
		}
		mix[kind] = value
	}
	if mix[object.Put]+mix[object.Get]+mix[object.Delete] == 0 {
		return mix, command.Mistakef("--mix %s has no share above 0; write shares such as put=1,get=8,delete=1.", text)
	}
	return mix, nil
}
