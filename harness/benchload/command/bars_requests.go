package command

import (
	"context"
	"io"
	"time"

	"benchbook/benchload/bars"
	"benchbook/benchload/request"
)

// digested is how many requests say what their bars are, for clients that do not make the dataset.
const digested = 100

// barsRequests writes the requests of a kind of read.
func barsRequests(_ context.Context, arguments []string, out, _ io.Writer) error {
	flags := request.NewFlags("bars-requests",
		"Writes requests for bars of the dataset kline, one JSON object a line: the same arguments, the same bytes. "+
			"--one-stock and --margin 60s make what the published readers of SQL databases asked.")
	extents := addExtent(flags, "kline")
	read := flags.Choice("read", "What each request asks for: short is one bar, long all bars of eight trading days.", "", bars.Short, bars.Long)
	count := flags.Count("count", "How many requests.", 1000, 1, 1<<24)
	seed := flags.Seed("request-seed", "What the requests follow from.")
	oneStock := flags.Switch("one-stock", "Asks for the first stock, whatever their number is.")
	margin := flags.Duration("margin", "How long before and after its bar a short read asks.", 0)
	flags.Require("read", "request-seed")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	extent, err := extents.extent()
	if err != nil {
		return err
	}
	requests, err := bars.NewDays(extent).Requests(bars.Asking{
		Digested: digested, Type: *read, Seed: *seed, Count: *count, OneStock: *oneStock, Margin: int64(*margin / time.Second),
	})
	if err != nil {
		return request.Mistakef("--read %s: %s; give more --days.", *read, err)
	}
	return bars.WriteRequests(out, requests)
}
