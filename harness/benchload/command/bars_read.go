package command

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"benchbook/benchload/bars"
	"benchbook/benchload/drive"
	"benchbook/benchload/event"
	"benchbook/benchload/request"
	"benchbook/benchload/target"
)

// barsRead asks the requests of a file and measures, or checks the answers.
func barsRead(ctx context.Context, arguments []string, out, _ io.Writer) error {
	flags := request.NewFlags("bars-read",
		"Asks the requests of a file, again and again for --duration, and writes what happened as JSON lines (docs/benchload-events.md). "+
			"Rows are counted; an answer with another number of bars than the dataset has is a failure.")
	extents := addExtent(flags, "kline")
	stores := addStore(flags)
	path := flags.Text("requests", "The requests to ask.", "", "the path of a file made by benchload bars-requests")
	inFlight := flags.Count("in-flight", "Connections, each with one read on its way.", 1, 1, 4096)
	warmup := flags.Count("warmup", "Reads before the clock is started; they are tagged.", 0, 0, 1<<40)
	duration := flags.Duration("duration", "Asks the requests again and again for so long; each once if it is left out.", 0)
	undecoded := flags.Switch("undecoded", "Takes any answer of redis for a good one without looking into it, as the published reader did.")
	answers := flags.Count("answers", "Instead of measuring, compares the first so many answers with the dataset, bar by bar, and writes the digest of each.", 0, 1, 1<<24)
	record := addRecord(flags)
	flags.Require("requests")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	extent, err := extents.extent()
	if err != nil {
		return err
	}
	days := bars.NewDays(extent)
	store, err := stores.store(days.Rows())
	if err != nil {
		return err
	}
	file, err := os.Open(*path)
	if err != nil {
		return request.Mistakef("--requests cannot be opened: %s; make it with benchload bars-requests.", err)
	}
	defer file.Close()
	requests, digest, err := bars.ReadRequests(file)
	if err == nil && len(requests) == 0 {
		err = fmt.Errorf("it is empty")
	}
	if err != nil {
		return request.Mistakef("--requests %s: %s; make it with benchload bars-requests.", *path, err)
	}
	events := event.NewWriter(out)
	if *answers > 0 {
		return checkBars(ctx, days, store, requests[:min(*answers, int64(len(requests)))], digest, events)
	}
	reading := &bars.Reading{Store: store, Requests: requests, Decode: !*undecoded}
	a := asking{target: reading, digest: digest, warmup: *warmup, workload: "kline", record: *record}
	a.options = drive.Options{Workers: int(*inFlight), Duration: *duration}
	return a.measured(ctx, reading.Texts(), events)
}

// checkBars compares answers with the dataset and writes their digests.
func checkBars(ctx context.Context, days *bars.Days, store bars.Store, requests []bars.Request, digest string, events *event.Writer) error {
	events.Start(event.Start{
		Workload: "answers", TimeUnixNS: time.Now().UnixNano(), Target: store.Name(), Workers: 1,
		Operations: int64(len(requests)), Program: "benchload " + Version,
	})
	client := store.Client()
	defer client.Close()
	defer context.AfterFunc(ctx, client.Interrupt)()
	maker := days.Maker()
	begun := time.Now()
	summary := event.Summary{Workload: "answers", Bottleneck: "server", Digest: &digest}
	var answer bars.Answer
	for i := range requests {
		if ctx.Err() != nil {
			return fmt.Errorf("the check was interrupted after %d answers", i)
		}
		answer.Reset()
		err := client.Read(&requests[i], true, &answer)
		if err == nil {
			if wrong := maker.Check(&requests[i], &answer); wrong != nil {
				err = &target.Failure{Kind: target.BadAnswer, Message: wrong.Error()}
			}
		}
		if failure := target.AsFailure(err); failure != nil {
			summary.Errors++
			events.Error(event.Error{Kind: string(failure.Kind), Status: failure.Status, Message: failure.Message, Operations: 1})
			continue
		}
		summary.Operations++
		summary.Rows += answer.Rows
		events.Answer(event.Answer{
			ID: requests[i].ID, QueryType: requests[i].Type, Columns: []string{"bars", "sha256"},
			Rows: [][]any{{answer.Rows, answer.Digest()}},
		})
	}
	summary.DurationNS = int64(time.Since(begun))
	events.Summary(summary)
	if summary.Errors > 0 {
		return errReported
	}
	return nil
}
