package command

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"benchbook/benchload/drive"
	"benchbook/benchload/event"
	"benchbook/benchload/measure"
	"benchbook/benchload/query/spec"
	"benchbook/benchload/request"
	"benchbook/benchload/target"
)

// asking is a run of queries as its flags describe it.
type asking struct {
	target   target.Target
	queries  []spec.Query
	digest   string
	warmup   int64
	options  drive.Options
	workload string
	record   string // path of the file of single operations; empty for none
}

// queryCommand asks the queries of a file and measures, or shows the answers.
func queryCommand(ctx context.Context, arguments []string, out, _ io.Writer) error {
	flags := request.NewFlags("query",
		"Asks the queries of a file and writes what happened as JSON lines (docs/benchload-events.md). Answers are read whole, "+
			"and those that hold an error count as failed; it ends with 1 if any did.")
	targets := addTarget(flags)
	path := flags.Text("queries", "The queries to ask.", "", "the path of a file made by benchload queries")
	workers := flags.Count("workers", "Connections, each with one query on its way.", 1, 1, 4096)
	warmup := flags.Count("warmup", "Queries to ask before the clock is started; they are tagged.", 0, 0, 1<<40)
	answers := flags.Switch("answers", "Writes the rows that each query gave instead of measuring.")
	limit := flags.Count("limit", "Keeps the first so many queries of each type.", 0, 1, 1<<40)
	rate := flags.Rate("rate", "Queries a second, whatever the server does: an open loop. If it is left out, each worker asks when it has its answer: a closed loop.")
	arrivals := flags.Choice("arrivals", "How queries of an open loop are spread over time.", "constant", "constant", "poisson")
	duration := flags.Duration("duration", "Asks the queries again and again for so long; each once if it is left out.", 0)
	record := addRecord(flags)
	flags.Require("queries")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	if flags.Given("arrivals") && *rate == 0 {
		return request.Mistakef("--arrivals is for an open loop, but there is no --rate; add one, or leave --arrivals out.")
	}
	system, err := targets.target()
	if err != nil {
		return err
	}
	a := asking{target: system, warmup: *warmup, workload: "query", record: *record, options: drive.Options{
		Workers: int(*workers), Duration: *duration, Rate: *rate, Poisson: *arrivals == "poisson", Seed: 1,
	}}
	if a.queries, a.digest, err = readQueries(*path, *limit); err != nil {
		return err
	}
	events := event.NewWriter(out)
	if *answers {
		return a.answers(ctx, events)
	}
	return a.run(ctx, events)
}

// readQueries reads the file of queries.
func readQueries(path string, limit int64) ([]spec.Query, string, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, "", request.Mistakef("--queries cannot be opened: %s; make it with benchload queries.", err)
	}
	defer file.Close()
	queries, digest, err := spec.Read(file)
	if err != nil {
		return nil, "", request.Mistakef("--queries %s: %s.", path, err)
	}
	if queries = spec.Limit(queries, limit); len(queries) == 0 {
		return nil, "", request.Mistakef("--queries %s has no queries; make it with benchload queries.", path)
	}
	return queries, digest, nil
}

// run asks and writes the events.
func (a asking) run(ctx context.Context, events *event.Writer) error {
	texts := make([][]byte, len(a.queries))
	for i, query := range a.queries {
		text, err := a.target.Text(query, false)
		if err != nil {
			return fmt.Errorf("query %d cannot be asked: %w", query.ID, err)
		}
		texts[i] = text
	}
	return a.measured(ctx, texts, events)
}

// measured asks what these texts ask and writes the events.
func (a asking) measured(ctx context.Context, texts [][]byte, events *event.Writer) error {
	open := a.options.Rate > 0
	start := event.Start{
		Workload: a.workload, TimeUnixNS: time.Now().UnixNano(), Target: a.target.Name(), Workers: a.options.Workers,
		Warmup: a.warmup, Loop: "closed", Program: "benchload " + Version,
	}
	if open {
		start.Loop = "open"
	}
	if a.options.Duration == 0 {
		start.Operations = int64(len(texts))
	}
	file, err := recordTo(a.record)
	if err != nil {
		return err
	}
	defer file.Close() // a failure is told where it is closed first
	events.Start(start)
	if a.warmup > 0 {
		warm := measure.NewRun(events, "warmup", a.options.Workers, false).Keep(file)
		warm.Start()
		drive.Warm(ctx, texts, a.warmup, a.target, warm, a.options.Workers)
		warm.Stop()
	}
	run := measure.NewRun(events, "query", a.options.Workers, open).Keep(file)
	run.Start()
	offered := drive.Run(ctx, texts, a.target, run, a.options)
	summary := run.Stop()
	summary.Workload = a.workload
	summary.Digest = &a.digest
	if open {
		summary.OfferedPerSecond = &offered
		summary.Saturated = summary.AchievedPerSecond < 0.99*offered
	}
	lost := recorded(file, &summary)
	events.Summary(summary)
	if lost != nil {
		return lost
	}
	return a.result(ctx, events, summary)
}

// result is how a run ended.
func (a asking) result(ctx context.Context, events *event.Writer, summary event.Summary) error {
	switch {
	case events.Err() != nil:
		return fmt.Errorf("the events could not be written: %w", events.Err())
	case ctx.Err() != nil:
		return fmt.Errorf("the queries were interrupted after %d", summary.Operations)
	case summary.Errors > 0:
		return errReported
	}
	return nil
}

// answers asks each query once and writes what it gave.
func (a asking) answers(ctx context.Context, events *event.Writer) error {
	a.workload = "answers"
	events.Start(event.Start{
		Workload: a.workload, TimeUnixNS: time.Now().UnixNano(), Target: a.target.Name(), Workers: 1,
		Operations: int64(len(a.queries)), Program: "benchload " + Version,
	})
	begun := time.Now()
	asked, failed, _ := drive.Answers(ctx, a.queries, a.target, events)
	summary := event.Summary{
		Workload: a.workload, DurationNS: int64(time.Since(begun)), Operations: asked - failed, Errors: failed,
		Bottleneck: "server", Digest: &a.digest,
	}
	events.Summary(summary)
	return a.result(ctx, events, summary)
}
