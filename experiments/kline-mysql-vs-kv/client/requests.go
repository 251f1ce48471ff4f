package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"benchbook/benchload/command"
	"benchbook/experiments/kline-mysql-vs-kv/client/bars"
	"benchbook/experiments/kline-mysql-vs-kv/client/bars/packedday"
)

// digested is how many requests have the digest of their bars, for clients that do not
// generate the dataset.
const digested = 100

// barsRequestsCommand writes the requests of a kind of read.
type barsRequestsCommand struct {
	klineFlags
	Read        string        `required:"" enum:"short,long" placeholder:"KIND" help:"What each request asks for: short is one bar, long all bars of eight trading days."`
	Count       int64         `default:"1000" range:"1:16777216" placeholder:"N" help:"How many requests. Default: ${default}."`
	RequestSeed uint64        `required:"" placeholder:"N" help:"The number that the requests follow from."`
	OneStock    bool          `help:"Ask for the first stock in every request."`
	Margin      time.Duration `placeholder:"LENGTH" help:"How long before and after its bar a short read asks."`
}

// Help describes it.
func (barsRequestsCommand) Help() string {
	return "Writes one JSON object per line: the same arguments, the same bytes. --one-stock and --margin 60s make what the published " +
		"readers of SQL databases asked."
}

// Run writes them.
func (b *barsRequestsCommand) Run(c *command.Console) error {
	extent, err := b.Extent()
	if err != nil {
		return err
	}
	requests, err := bars.NewDays(extent).Requests(bars.Asking{
		Digested: digested, Type: b.Read, Seed: b.RequestSeed, Count: b.Count, OneStock: b.OneStock, Margin: int64(b.Margin / time.Second),
	})
	if err != nil {
		return command.Mistakef("--read %s: %s; give more --days.", b.Read, err)
	}
	return bars.WriteRequests(c.Out, requests)
}

// barsServiceCommand serves packed days until it is interrupted.
type barsServiceCommand struct {
	Listen      string        `default:"127.0.0.1:0" placeholder:"HOST:PORT" help:"Where to listen. Default: a free port of ${default}."`
	Store       string        `required:"" placeholder:"URL" help:"The server that holds the days, such as redis://127.0.0.1:6379."`
	Connections int           `default:"96" range:"1:4096" placeholder:"N" help:"Connections to that server. Default: ${default}."`
	Timeout     time.Duration `default:"30s" placeholder:"LENGTH" help:"How long to wait for it. Default: ${default}."`
}

// Help describes it.
func (barsServiceCommand) Help() string {
	return "Serves bars from the packed days of Redis or Kvrocks: GET /bars?stock=1&from=S&to=S, times in seconds since 1970. It prints its " +
		"address as a JSON line and runs until it is interrupted."
}

// Run serves.
func (b *barsServiceCommand) Run(c *command.Console) error {
	address, err := url.Parse(b.Store)
	if err != nil || address.Scheme != "redis" || address.Port() == "" {
		return command.Mistakef("--store %q is not an address of Redis; give one such as redis://127.0.0.1:6379.", b.Store)
	}
	listener, err := c.Listen(b.Listen)
	if err != nil {
		return err
	}
	server := &http.Server{
		Handler:           packedday.NewService(address.Host, b.Connections, b.Timeout),
		ReadHeaderTimeout: b.Timeout,
	}
	defer context.AfterFunc(c.Context, func() { _ = server.Close() })()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("the service ended: %w", err)
	}
	return nil
}
