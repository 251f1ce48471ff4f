package command

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"benchbook/benchload/dataset/blob"
	"benchbook/benchload/drive"
	"benchbook/benchload/event"
	"benchbook/benchload/object"
	"benchbook/benchload/request"
)

// objectsCommand puts, gets and deletes objects and measures, or reads them all back.
func objectsCommand(ctx context.Context, arguments []string, out, _ io.Writer) error {
	flags := request.NewFlags("blob",
		"Puts the objects of the dataset blob into a store, gets them back, deletes them, or does all of it mixed, and writes what "+
			"happened as JSON lines (docs/benchload-events.md). Every object that is got is compared with what was put. It ends "+
			"with 1 if anything failed or differs.")
	stores := addObjectStore(flags)
	seed := flags.Seed("seed", "What sizes and contents follow from.")
	count := flags.Count("count", "Objects of the dataset.", 1, 1, 1<<40)
	size := flags.Text("size", "How large the objects are.", "", "a size or a law of sizes, such as 4KiB, uniform:1KiB:16KiB or lognormal:4KiB:1")
	do := flags.Choice("do", "What is done: put all objects, get or delete those that are kept, a mix of the three, or check: read all of them back once, without measuring.",
		"", "put", "get", "delete", "mixed", "check")
	mix := flags.Text("mix", "Parts of a mix.", "put=1,get=2,delete=1", "parts such as put=1,get=8,delete=1")
	kept := flags.Text("kept", "The file in which is written down which objects the store has to have, and under which names; it is made and kept up to date.", "", "the path of a file")
	operations := flags.Count("operations", "How many operations; one an object if it is left out.", 0, 1, 1<<40)
	batch := flags.Count("batch", "Objects of a put: one transaction, or one after the other in a store that has none over several objects.", 1, 1, 100_000)
	workers := flags.Count("workers", "Connections, each with one operation on its way.", 1, 1, 4096)
	rate := flags.Rate("rate", "Operations a second, whatever the store does: an open loop. If it is left out, each worker goes on when it has its answer: a closed loop.")
	arrivals := flags.Choice("arrivals", "How operations of an open loop are spread over time.", "constant", "constant", "poisson")
	duration := flags.Duration("duration", "Goes on for so long, instead of a number of operations.", 0)
	record := addRecord(flags)
	flags.Require("seed", "count", "size", "do", "kept")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	sizes, err := blob.ParseSizes(*size)
	if err != nil {
		return request.Mistakef("--size %s; change it.", err)
	}
	if flags.Given("arrivals") && *rate == 0 {
		return request.Mistakef("--arrivals is for an open loop, but there is no --rate; add one, or leave --arrivals out.")
	}
	work := &object.Work{
		Set: &blob.Set{Seed: *seed, Count: *count, Sizes: sizes}, Operations: *operations, Batch: int(*batch),
		Pace: drive.Options{Workers: int(*workers), Duration: *duration, Rate: *rate, Poisson: *arrivals == "poisson", Seed: *seed},
	}
	if work.Store, err = stores.store(); err != nil {
		return err
	}
	if work.Mix, err = mixOf(*do, *mix); err != nil {
		return err
	}
	if work.Kept, err = object.ReadKept(*kept); err != nil {
		return request.Mistakef("--kept cannot be read: %s; give another path.", err)
	}
	if len(work.Kept) == 0 && *do != "put" && *do != "mixed" {
		return request.Mistakef("--kept %s names no objects to %s; put some first: benchload blob --do put …", *kept, *do)
	}
	if work.Record, err = recordTo(*record); err != nil {
		return err
	}
	defer work.Record.Close() // a failure is told where it is closed first
	events := event.NewWriter(out)
	start := event.Start{
		Workload: "blob-" + *do, TimeUnixNS: time.Now().UnixNano(), Target: work.Store.Name(), Workers: int(*workers),
		BatchRows: *batch, Rows: *count, Operations: *operations, Loop: "closed", Program: "benchload " + Version,
	}
	if *rate > 0 {
		start.Loop = "open"
	}
	events.Start(start)
	if *do == "check" {
		return checkObjects(ctx, work, events, start.Workload)
	}
	return runObjects(ctx, work, events, start.Workload, *kept)
}

// runObjects measures.
func runObjects(ctx context.Context, work *object.Work, events *event.Writer, workload, kept string) error {
	if err := work.Store.Prepare(); err != nil {
		return fmt.Errorf("the store cannot be prepared: %w", err)
	}
	// Before the work is done it is not known what the store has: a file of an earlier phase would lie.
	before := work.Kept
	if err := os.Remove(kept); err != nil && !os.IsNotExist(err) {
		return fmt.Errorf("--kept cannot be written: %w", err)
	}
	work.Kept = before
	summary, err := work.Run(ctx, events)
	if err != nil {
		return err
	}
	summary.Workload = workload
	lost := recorded(work.Record, &summary)
	if err := object.WriteKept(kept, work.Kept); err != nil {
		return fmt.Errorf("--kept cannot be written: %w", err)
	}
	events.Summary(summary)
	switch {
	case lost != nil:
		return lost
	case events.Err() != nil:
		return fmt.Errorf("the events could not be written: %w", events.Err())
	case ctx.Err() != nil:
		return fmt.Errorf("the work was interrupted after %d operations", summary.Operations)
	case summary.Errors > 0:
		return errReported
	}
	return nil
}

// checkObjects reads everything back.
func checkObjects(ctx context.Context, work *object.Work, events *event.Writer, workload string) error {
	begun := time.Now()
	found, err := object.Check(ctx, work.Set, work.Store, work.Pace.Workers, work.Kept)
	if err != nil {
		return fmt.Errorf("not every object could be read back: %w", err)
	}
	digest := hex.EncodeToString(found.SHA256[:])
	events.Checked(event.Checked{
		Objects: int64(len(work.Kept)), Read: found.Objects, Bytes: found.Bytes, Missing: found.Missing,
		Different: found.Different, Back: found.Back, SHA256: digest, Expected: hex.EncodeToString(found.Expected[:]),
	})
	events.Summary(event.Summary{
		Workload: workload, DurationNS: int64(time.Since(begun)), Operations: found.Objects, Rows: found.Objects, Bytes: found.Bytes,
		Errors: found.Missing + found.Different + found.Back, Bottleneck: "server", Digest: &digest,
	})
	if events.Err() != nil {
		return fmt.Errorf("the events could not be written: %w", events.Err())
	}
	return nil
}

// mixOf is the mix that is asked for.
func mixOf(do, text string) (object.Mix, error) {
	for kind, name := range object.Kinds {
		if do == name {
			return object.Only(object.Kind(kind)), nil
		}
	}
	var mix object.Mix
	for _, part := range strings.Split(text, ",") {
		name, number, _ := strings.Cut(part, "=")
		value, err := strconv.ParseFloat(number, 64)
		place := -1
		for kind, known := range object.Kinds {
			if known == name {
				place = kind
			}
		}
		if place < 0 || err != nil || !(value >= 0) || value > 1e6 {
			return mix, request.Mistakef("--mix: %q is no part of a mix; write parts such as put=1,get=8,delete=1.", part)
		}
		mix[place] = value
	}
	if mix[object.Put]+mix[object.Get]+mix[object.Delete] == 0 {
		return mix, request.Mistakef("--mix %s has no part above 0; write parts such as put=1,get=8,delete=1.", text)
	}
	return mix, nil
}
