package program

import (
	"fmt"
	"os"
	"time"

	"benchbook/benchload/command"
	"benchbook/benchload/event"
	"benchbook/benchload/query"
	"benchbook/benchload/query/spec"
	"benchbook/benchload/target"
)

// queryCommand asks the queries of a file and measures, or writes the answers.
type queryCommand struct {
	targetFlags
	command.Pace
	Queries string  `required:"" placeholder:"FILE" help:"The queries, as benchload queries writes them."`
	Warmup  int64   `default:"0" placeholder:"N" help:"Queries to ask before the clock starts; their operation is warmup."`
	Answers bool    `help:"Write the rows of each answer instead of measuring."`
	Limit   int64   `range:"1:" placeholder:"N" help:"Ask only this number of queries of each type."`
	Also    []int64 `placeholder:"ID,…" help:"With --answers, also ask the queries with these ids, and write only the digests of their answers."`
}

// Help describes it.
func (queryCommand) Help() string {
	return "Events are JSON lines (docs/benchload-events.md). Each query is asked once, or with --duration again and again. " +
		"Answers are read whole, and one that holds an error counts as failed. The exit code is 1 if any query failed."
}

// Run asks.
func (q *queryCommand) Run(c *command.Console) error {
	tested, err := q.target(false)
	if err != nil {
		return err
	}
	pace, err := q.Loop(0, 1)
	if err != nil {
		return err
	}
	all, digest, err := readQueries(q.Queries)
	if err != nil {
		return err
	}
	queries := spec.Limit(all, q.Limit)
	if q.Answers {
		return writeAnswers(c, tested, queries, spec.Others(all, queries, q.Also), digest)
	}
	if len(q.Also) > 0 {
		return command.Mistakef("--also is for --answers; add it, or leave --also out.")
	}
	texts, err := textsOf(tested, queries)
	if err != nil {
		return err
	}
	start := event.Start{Workload: "query", Target: tested.Name(), Warmup: q.Warmup}
	if q.Duration == 0 {
		start.Operations = int64(len(texts))
	}
	w, err := q.Workload(c, start)
	if err != nil {
		return err
	}
	defer w.Close()
	seen := query.NewSeen(queries)
	w.Answered = seen.Event
	return w.Ask(query.Work(texts, seen, tested, pace), q.Warmup, digest)
}

// readQueries reads the file of queries.
func readQueries(path string) ([]spec.Query, string, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, "", command.Mistakef("--queries cannot be opened: %s; make it with benchload queries.", err)
	}
	defer file.Close()
	queries, digest, err := spec.Read(file)
	if err != nil {
		return nil, "", command.Mistakef("--queries %s: %s.", path, err)
	}
	if len(queries) == 0 {
		return nil, "", command.Mistakef("--queries %s has no queries; make it with benchload queries.", path)
	}
	return queries, digest, nil
}

// textsOf returns the queries in the language of a target.
func textsOf(tested target.Target, queries []spec.Query) ([][]byte, error) {
	texts := make([][]byte, len(queries))
	for i, query := range queries {
		text, err := tested.Text(query)
		if err != nil {
			return nil, fmt.Errorf("cannot ask query %d: %w", query.ID, err)
		}
		texts[i] = text
	}
	return texts, nil
}

// writeAnswers asks each query once and writes the rows of its answer, and digests of all.
func writeAnswers(c *command.Console, tested target.Target, queries, also []spec.Query, digest string) error {
	w := command.NewWorkload(c, event.Start{Workload: "answers", Target: tested.Name(), Workers: 1, Operations: int64(len(queries) + len(also))})
	w.Begin()
	begun := time.Now()
	asked, failed := query.Answers(c.Context, queries, also, tested, w.Events)
	return w.Finish(event.Summary{
		DurationNS: int64(time.Since(begun)), Operations: asked - failed, Errors: failed, Bottleneck: "server", Digest: &digest,
	}, failed > 0)
}
