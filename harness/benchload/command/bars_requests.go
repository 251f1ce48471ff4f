package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"benchbook/benchload/bars"
	"benchbook/benchload/bars/packedday"
	"benchbook/benchload/event"
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
func (b *barsRequestsCommand) Run(c *console) error {
	extent, err := b.extent()
	if err != nil {
		return err
	}
	requests, err := bars.NewDays(extent).Requests(bars.Asking{
		Digested: digested, Type: b.Read, Seed: b.RequestSeed, Count: b.Count, OneStock: b.OneStock, Margin: int64(b.Margin / time.Second),
	})
	if err != nil {
		return mistakef("--read %s: %s; give more --days.", b.Read, err)
	}
	return bars.WriteRequests(c.out, requests)
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
func (b *barsServiceCommand) Run(c *console) error {
	address, err := url.Parse(b.Store)
	if err != nil || address.Scheme != "redis" || address.Port() == "" {
		return mistakef("--store %q is not an address of Redis; give one such as redis://127.0.0.1:6379.", b.Store)
	}
	listener, err := listen(c, b.Listen)
	if err != nil {
		return err
	}
	server := &http.Server{
		Handler:           packedday.NewService(address.Host, b.Connections, b.Timeout),
		ReadHeaderTimeout: b.Timeout,
	}
	defer context.AfterFunc(c.ctx, func() { _ = server.Close() })()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("the service ended: %w", err)
	}
	return nil
}

// listen opens a port and prints its address.
func listen(c *console, at string) (net.Listener, error) {
	listener, err := net.Listen("tcp", at)
	if err != nil {
		return nil, mistakef("--listen %s cannot be used (%s); give a free port, or :0 for any.", at, err)
	}
	if err := json.NewEncoder(c.out).Encode(map[string]any{
		"v": event.Version, "type": "listening", "url": "http://" + listener.Addr().String(),
	}); err != nil {
		_ = listener.Close()
		return nil, fmt.Errorf("cannot write the address: %w", err)
	}
	return listener, nil
}
