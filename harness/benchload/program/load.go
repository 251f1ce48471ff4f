package program

import (
	"runtime"
	"time"

	"benchbook/benchload/command"
	"benchbook/benchload/dataset"
	"benchbook/benchload/drive"
	"benchbook/benchload/event"
	"benchbook/benchload/format"
	"benchbook/benchload/load"
	"benchbook/benchload/stream"
	"benchbook/benchload/system"
	"benchbook/benchload/target"
)

// loadCommand has a command for each kind of dataset.
type loadCommand struct {
	Devops Load[devopsFlags] `cmd:"" help:"Load telemetry of hosts."`
	IoT    Load[iotFlags]    `cmd:"" name:"iot" help:"Load telemetry of trucks."`
}

// Help describes all of them.
func (loadCommand) Help() string {
	return "Rows are generated while they are sent, or come from a file. They count as loaded when the server has " +
		"acknowledged them. Events are JSON lines (docs/benchload-events.md). The exit code is 0 if all rows were loaded, else 1."
}

// Load loads a dataset, generated on the fly, or a file.
type Load[D DatasetFlags] struct {
	Dataset D `embed:""`
	targetFlags
	command.Pace
	BatchRows int64         `default:"5000" range:"1:4194304" placeholder:"N" help:"Rows of a batch, which is one operation. Default: ${default}."`
	Gzip      bool          `help:"Compress batches."`
	Retries   int           `default:"5" range:"0:1000" placeholder:"N" help:"How often a batch that the server cannot take now is sent again. Default: ${default}."`
	KeepGoing bool          `help:"Go on after rows were refused, and end with 0. The refused rows are counted."`
	Whole     bool          `help:"Go on after --duration until the whole dataset is loaded. Rates leave out what that adds."`
	Tick      time.Duration `placeholder:"LENGTH" help:"Let each worker begin at most one batch in each interval of this length, such as 1s. A batch that is late is not made up for. Not with --rate."`
	Append    bool          `help:"Load into a database that holds data already."`
	File      string        `placeholder:"FILE" help:"Load this file in line protocol instead of generating rows."`
	DryRun    bool          `help:"Send nothing: generate batches and read them as the target's client would, which shows how fast the client alone is. No server is needed."`
	Wait      bool          `help:"After all is prepared, wait for a line on standard input before the clock starts."`
}

// Run loads.
func (l *Load[D]) Run(c *command.Console) error {
	extent, err := l.Dataset.Extent()
	if err != nil {
		return err
	}
	tested, err := l.target(l.DryRun)
	if err != nil {
		return err
	}
	pace, err := l.Loop(0, 1)
	if err != nil {
		return err
	}
	if l.Tick > 0 && pace.Rate > 0 {
		return command.Mistakef("--tick paces a closed loop, but --rate asks for an open one; leave one of them out.")
	}
	pace.Tick = l.Tick
	loading := loading{
		kind: l.Dataset.Kind(), create: l.Dataset.Generator, extent: extent, target: tested, pace: pace,
		rule: drive.Rule{Retries: l.Retries, Pause: 100 * time.Millisecond, KeepGoing: l.KeepGoing},
		gzip: l.Gzip, batchRows: l.BatchRows, file: l.File,
	}
	if l.Whole {
		loading.pace.Rows = dataset.RowsUntilWhole(loading.create(extent))
	}
	if err := loading.check(); err != nil {
		return err
	}
	start := event.Start{Workload: "load"}
	if l.DryRun {
		loading.target, start.Workload = load.NewDry(tested), "load-dry-run"
	}
	w, err := l.Workload(c, start)
	if err != nil {
		return err
	}
	defer w.Close()
	return loading.run(w, l.Append, l.Wait)
}

// loading is a load of rows.
type loading struct {
	kind      string // of dataset
	create    func(dataset.Extent) dataset.Generator
	extent    dataset.Extent
	target    target.Target
	pace      drive.Pace
	rule      drive.Rule
	gzip      bool
	batchRows int64
	file      string
}

// check is an error if the target cannot be loaded like this.
func (l *loading) check() error {
	shaped, ok := l.target.(target.Shaped)
	if !ok {
		return nil
	}
	if l.file != "" {
		return command.Mistakef("--file holds line protocol, which --target %s does not take; leave --file out.", shaped.Name())
	}
	made, err := shaped.Format(l.create(l.extent))
	if err != nil {
		return command.Mistakef("--target %s cannot take the dataset %s: %s.", shaped.Name(), l.kind, err)
	}
	if _, rows := made.(*format.Rows); rows && l.gzip {
		return command.Mistakef("--gzip compresses bodies of HTTP, but --target %s binds values through a client library; leave it out.", shaped.Name())
	}
	return nil
}

// endlessRows is about how many rows one stretch of an endless dataset has.
const endlessRows = 1 << 26

// source opens where the batches come from. With a duration, rows that follow those of
// the dataset in time are generated until it is over.
func (l *loading) source() (load.Source, error) {
	if l.file != "" {
		file, err := load.NewFile(l.file, l.batchRows)
		if err != nil {
			return nil, command.Mistakef("%s.", err)
		}
		return file, nil
	}
	generator := l.create(l.extent)
	made := format.Format(format.NewInflux(generator))
	if shaped, ok := l.target.(target.Shaped); ok {
		var err error
		if made, err = shaped.Format(generator); err != nil {
			return nil, err
		}
	}
	options := stream.Options{PieceRows: l.batchRows, Readers: l.pace.Workers}
	if l.gzip {
		options.Readers = runtime.GOMAXPROCS(0) // the compressors, which give rows back before they are sent
	}
	if l.pace.Duration == 0 {
		return load.NewGenerated(stream.New(generator, made, options), dataset.Rows(generator)), nil
	}
	return endless(l.extent, l.create, made, options), nil
}

// endless generates the rows of a dataset and then those that follow them in time.
func endless(extent dataset.Extent, create func(dataset.Extent) dataset.Generator, made format.Format, options stream.Options) *load.Generated {
	ticks := max(endlessRows/max(extent.SeriesCount*int64(len(create(extent).Tables())), 1), 1)
	return load.NewEndless(func(number int64) *stream.Stream {
		part, more := extent.Stretch(number, ticks)
		if !more {
			return nil
		}
		return stream.New(create(part), made, options)
	})
}

// run loads and writes the events.
func (l *loading) run(w *command.Workload, appends, wait bool) error {
	source, err := l.source()
	if err != nil {
		return err
	}
	if l.gzip {
		source = load.NewPacked(source, l.pace.Workers)
	}
	defer source.Stop()
	failure := l.refusal(appends)
	w.Start.Target, w.Start.BatchRows, w.Start.Rows, w.Start.Gzip = l.target.Name(), l.batchRows, source.Rows(), l.gzip
	w.Begin()
	if failure != nil {
		return w.Refuse(failure, source.Rows())
	}
	if wait {
		if err := command.WaitForLine(w.Console.Context); err != nil {
			return err
		}
	}
	summary, ended, err := w.Run(load.Work(source, l.target, l.pace, l.rule), "write")
	if err != nil {
		return err
	}
	if source.Rows() > 0 {
		summary.RowsUnsent = source.Rows() - summary.Rows - summary.RowsRefused
	}
	return w.Finish(summary, ended || summary.RowsRefused > 0 && !l.rule.KeepGoing)
}

// refusal is why nothing may be loaded: there is data already, or no server.
func (l *loading) refusal(appends bool) *system.Failure {
	holds, err := l.target.Holds()
	if err != nil {
		return system.AsFailure(err)
	}
	if holds && !appends {
		return &system.Failure{Kind: system.NotEmpty,
			Message: "the database holds data already; name another with --database, or add --append to load into it"}
	}
	if shaped, ok := l.target.(target.Shaped); ok {
		return system.AsFailure(shaped.Prepare())
	}
	return nil
}
