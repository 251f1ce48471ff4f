// Package null is a store of bars in the client's own process: it discards what is
// written and generates each answer, which takes longer than to decode one. It shows
// how fast the client alone is at least.
package null

import "benchbook/experiments/kline-mysql-vs-kv/client/bars"

// Store is the store. It holds the days of a dataset.
type Store struct{ Days *bars.Days }

// Name returns the name of the kind of system.
func (Store) Name() string { return "null" }

// Prepare does nothing.
func (Store) Prepare() error { return nil }

// Connect creates a client.
func (s Store) Connect() (bars.Conn, error) { return client{s.Days.Maker()}, nil }

type client struct{ maker *bars.Maker }

func (client) Write([]bars.Bar) error { return nil }

func (c client) Read(request *bars.Request, decode bool, answer *bars.Answer) error {
	if decode {
		answer.Bars = c.maker.Between(answer.Bars[:0], request)
	}
	answer.Rows, answer.Bytes = request.Bars, request.Bars*bars.Size
	return nil
}

func (client) Interrupt() {}

func (client) Close() {}
