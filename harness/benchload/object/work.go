package object

import (
	"bytes"
	"context"
	"time"

	"benchbook/benchload/dataset/blob"
	"benchbook/benchload/drive"
	"benchbook/benchload/event"
	"benchbook/benchload/measure"
	"benchbook/benchload/system"
)

// Work is a run of operations on objects.
type Work struct {
	Set    *blob.Set
	Store  Store
	Mix    Mix
	Batch  int        // objects of a put
	Pace   drive.Pace // without operations and duration: one operation per object
	Record *measure.Operations
	Kept   []Entry // what the store should hold; Run updates it
}

// mostFailures ends the work: a store that is full or broken fails every operation.
const mostFailures = 1000

// Run does the work and writes all events but the first and the last.
func (w *Work) Run(ctx context.Context, events *event.Writer) (event.Summary, error) {
	first := int64(0)
	for _, entry := range w.Kept {
		first = max(first, entry.Number+1)
	}
	pace, end := w.Pace, int64(endless)
	if pace.Duration == 0 && pace.Operations == 0 {
		if w.Mix.single() {
			end = first + w.Set.Count
		}
		if !w.Mix.single() || w.Mix[Get] > 0 {
			pace.Operations = max(int64(len(w.Kept)), 1)
		}
	}
	var names []string
	var places [len(Kinds)]int // of each kind among the operations of the run
	for kind, name := range Kinds {
		if w.Mix[kind] > 0 || Kind(kind) == Put && !w.Mix.single() {
			places[kind] = len(names)
			names = append(names, name)
		}
	}
	dealt := shares(w.Mix, pace.Workers, w.Batch, w.Set.Seed, w.Kept, first, end)
	work := drive.Work{
		Pace: pace, Rule: drive.Rule{KeepGoing: true, Most: mostFailures},
		Client: drive.Clients(w.Store, func(conn Conn, worker int) drive.Client {
			return &client{Conn: conn, set: w.Set, share: dealt[worker], places: places, content: make([][]byte, w.Batch)}
		}),
	}
	run := measure.NewRun(events, pace.Workers, pace.Rate > 0, names...).Keep(w.Record)
	summary, _, err := work.Run(ctx, run)
	if err != nil {
		return summary, err
	}
	w.Kept = w.Kept[:0]
	for _, one := range dealt {
		w.Kept = append(w.Kept, one.live...)
	}
	return summary, nil
}

// client does operations over one connection.
type client struct {
	Conn
	set     *blob.Set
	share   *share
	places  [len(Kinds)]int
	kind    Kind
	items   []Item
	key     []byte
	content [][]byte
	got     []byte
}

// Next chooses an operation and generates the objects of a put.
func (c *client) Next(int64) bool {
	kind, items, more := c.share.choose(c.items)
	if !more {
		return false
	}
	c.kind, c.items = kind, items
	for i := range items {
		c.key = c.set.AppendKey(c.key[:0], items[i].Number)
		items[i].Key = string(c.key)
		if kind == Put {
			c.content[i] = c.set.Object(c.content[i], items[i].Number)
			items[i].Content = c.content[i]
		}
	}
	return true
}

// Do does the operation. What a get returns is compared with what was put, after its
// time was taken.
func (c *client) Do() (drive.Result, error) {
	size, err := int64(0), error(nil)
	switch c.kind {
	case Put:
		err = c.Put(c.items)
		for i := range c.items {
			size += int64(len(c.items[i].Content))
		}
	case Get:
		c.got, err = c.Get(&c.items[0], c.got[:0])
		size = int64(len(c.got))
	case Delete:
		err = c.Delete(&c.items[0])
	}
	result := drive.Result{Kind: c.places[c.kind], Ended: time.Now()}
	if err == nil && c.kind == Get {
		c.content[0] = c.set.Object(c.content[0], c.items[0].Number)
		if !bytes.Equal(c.got, c.content[0]) {
			err = &system.Failure{Kind: system.BadAnswer, Message: "an object differs from what was put"}
		}
	}
	if failure := asFailure(err); failure != nil {
		failure.Refused = int64(len(c.items))
		return result, failure
	}
	result.Counts = measure.Counts{Rows: int64(len(c.items)), Bytes: size, WireBytes: size}
	return result, nil
}

// Ended notes which objects the store should hold.
func (c *client) Ended(failure *system.Failure) {
	if failure == nil {
		c.share.done(c.kind, c.items)
	} else {
		c.share.failed(c.kind)
	}
}
