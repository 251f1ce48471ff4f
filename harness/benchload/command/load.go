package command

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"time"

	"benchbook/benchload/dataset"
	"benchbook/benchload/event"
	"benchbook/benchload/format"
	"benchbook/benchload/load"
	"benchbook/benchload/measure"
	"benchbook/benchload/request"
	"benchbook/benchload/stream"
	"benchbook/benchload/target"
)

// loading is a load as its flags describe it.
type loading struct {
	kind      string // of dataset
	extent    dataset.Extent
	target    target.Target
	options   load.Options
	gzip      bool
	batchRows int64
	file      string
	append    bool
	workload  string
	digest    *string
	wait      bool // for a line of standard input
	lasts     time.Duration
	record    string // path of the file of single operations; empty for none
}

// loadCommand loads a dataset, made on the fly, or a file.
func loadCommand(ctx context.Context, arguments []string, out, notes io.Writer) error {
	given := arguments
	kind, arguments, err := takeDataset("load", arguments)
	if err != nil {
		return err
	}
	flags := request.NewFlags("load "+kind,
		"Loads the dataset "+kind+", made while it is sent, or a file, and writes what happened as JSON lines (docs/benchload-events.md). "+
			"Rows count as loaded when the server has acknowledged them. It ends with 0 if all were, else with 1.")
	extents := addExtent(flags, kind)
	targets := addTarget(flags)
	workers := flags.Count("workers", "Connections, each with one batch on its way.", 1, 1, 4096)
	batch := flags.Count("batch-rows", "Rows of a batch.", 5000, 1, 1<<22)
	zip := flags.Switch("gzip", "Compresses batches.")
	retries := flags.Count("retries", "How often a batch is sent again that the server could not take for now.", 5, 0, 1000)
	keepGoing := flags.Switch("keep-going", "Goes on after rows were refused, and ends with 0 although some were; they are counted.")
	appendTo := flags.Switch("append", "Loads into a database that holds data already.")
	file := flags.Text("file", "Loads this file instead of making rows.", "", "the path of a file in line protocol")
	shares := addShares(flags)
	dry := flags.Switch("dry-run", "Sends nothing: batches are made and read as the target's client would, which shows how fast the client alone is. No server is needed.")
	lasts := flags.Duration("for", "How long to load; until all rows are sent if it is left out.", 0)
	record := addRecord(flags)
	wait := flags.Switch("wait", "Waits, after all is prepared, for a line of standard input before the clock is started.")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	extent, err := extents.extent()
	if err != nil {
		return err
	}
	if err := shares.check(extent, *file); err != nil {
		return err
	}
	system, err := targets.made(*dry)
	if err != nil {
		return err
	}
	made := loading{
		kind:   kind,
		extent: shares.of(extent), target: system, batchRows: *batch, file: *file,
		append: *appendTo || *shares.index > 0, workload: "load", gzip: *zip, wait: *wait, lasts: *lasts, record: *record,
		options: load.Options{
			Workers: int(*workers), Retries: int(*retries),
			Pause: 100 * time.Millisecond, KeepGoing: *keepGoing,
		},
	}
	if err := made.takes(); err != nil {
		return err
	}
	if *dry {
		made.target, made.workload = load.NewDry(system), "load-dry-run"
	}
	if *shares.clients > 1 {
		return made.byClients(ctx, given, int(*shares.clients), event.NewWriter(out), notes)
	}
	return made.run(ctx, event.NewWriter(out))
}

// takes tells if the target can be loaded like this.
func (l loading) takes() error {
	shaped, ok := l.target.(target.Shaped)
	if !ok {
		return nil
	}
	if l.file != "" {
		return request.Mistakef("--file holds line protocol, which --target %s does not take; leave --file out.", shaped.Name())
	}
	made, err := shaped.Format(newGenerator(l.kind, l.extent))
	if err != nil {
		return request.Mistakef("--target %s cannot take the dataset %s: %s.", shaped.Name(), l.kind, err)
	}
	if _, rows := made.(*format.Rows); rows && l.gzip {
		return request.Mistakef("--gzip compresses bodies of HTTP, but --target %s binds values through a client library; leave it out.", shaped.Name())
	}
	return nil
}

// format is what the target takes.
func (l loading) format(generator dataset.Generator) (format.Format, error) {
	if shaped, ok := l.target.(target.Shaped); ok {
		return shaped.Format(generator)
	}
	return format.NewInflux(generator), nil
}

// source makes where the batches come from.
func (l loading) source() (load.Source, error) {
	if l.file != "" {
		file, err := load.NewFile(l.file, l.batchRows)
		if err != nil {
			return nil, request.Mistakef("%s.", err)
		}
		return file, nil
	}
	generator := newGenerator(l.kind, l.extent)
	readers := l.options.Workers
	if l.gzip {
		readers = runtime.GOMAXPROCS(0) // the packers, which give rows back before they are sent
	}
	made, err := l.format(generator)
	if err != nil {
		return nil, err
	}
	s := stream.New(generator, made, stream.Options{PieceRows: l.batchRows, Readers: readers})
	return load.NewGenerated(s, dataset.Rows(generator)), nil
}

// run loads and writes the events.
func (l loading) run(ctx context.Context, events *event.Writer) error {
	source, err := l.source()
	if err != nil {
		return err
	}
	if l.gzip {
		source = load.NewPacked(source, l.options.Workers)
	}
	defer source.Stop()
	file, err := recordTo(l.record)
	if err != nil {
		return err
	}
	defer file.Close() // a failure is told where it is closed first
	failure := l.refuseData()
	events.Start(event.Start{
		Workload: l.workload, TimeUnixNS: time.Now().UnixNano(), Target: l.target.Name(), Workers: l.options.Workers,
		BatchRows: l.batchRows, Rows: source.Rows(), Gzip: l.gzip, Program: "benchload " + Version,
	})
	if failure != nil {
		l.refused(events, failure, source.Rows())
		return errReported
	}
	if l.wait {
		if err := waitForLine(ctx); err != nil {
			return err
		}
	}
	run := measure.NewRun(events, "write", l.options.Workers, false).Keep(file)
	run.Start()
	if l.lasts > 0 {
		defer time.AfterFunc(l.lasts, source.Stop).Stop()
	}
	result := load.Run(ctx, source, l.target, run, l.options)
	summary := run.Stop()
	summary.Workload = l.workload
	summary.GeneratorStallNS = int64(result.Stall)
	summary.Digest = l.digest
	if source.Rows() > 0 && l.lasts == 0 {
		summary.RowsUnsent = source.Rows() - summary.Rows - summary.RowsRefused
	}
	// Workers that wait for rows more than half of their time would be faster
	// with a faster generator.
	if result.Stall > result.Worked/2 {
		summary.Bottleneck = "generator"
	}
	lost := recorded(file, &summary)
	events.Summary(summary)
	switch {
	case lost != nil:
		return lost
	case events.Err() != nil:
		return fmt.Errorf("the events could not be written: %w", events.Err())
	case ctx.Err() != nil:
		return fmt.Errorf("the load was interrupted after %d rows", summary.Rows)
	case result.Ended, summary.RowsRefused > 0 && !l.options.KeepGoing:
		return errReported
	}
	return nil
}

// refused writes why nothing is loaded.
func (l loading) refused(events *event.Writer, failure *target.Failure, rows int64) {
	events.Error(event.Error{Kind: string(failure.Kind), Status: failure.Status, Message: failure.Message, Operations: 1})
	events.Summary(event.Summary{Workload: l.workload, Errors: 1, RowsUnsent: rows, Bottleneck: "server"})
}

// refuseData tells why nothing may be loaded: there is data already, or no server.
func (l loading) refuseData() *target.Failure {
	holds, err := l.target.Holds()
	if err != nil {
		return target.AsFailure(err)
	}
	if holds && !l.append {
		return &target.Failure{Kind: target.NotEmpty,
			Message: "the database holds data already; name another with --database, or add --append to load into it"}
	}
	if shaped, ok := l.target.(target.Shaped); ok {
		return target.AsFailure(shaped.Prepare())
	}
	return nil
}
