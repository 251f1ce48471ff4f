package ycsb

import (
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"benchbook/benchload/drive"
	"benchbook/benchload/measure"
	"benchbook/benchload/system"
)

// kind is a kind of operation.
type kind int

const (
	insert kind = iota
	read
	update
	scan
	readModifyWrite
	kinds
)

// kindNames are the names of the kinds in events.
var kindNames = [kinds]string{"insert", "read", "update", "scan", "rmw"}

// mix is the share of each kind of operation, and how their records are chosen.
type mix struct {
	name   string
	shares [kinds]float64
	choice distribution
}

// core are the core workloads: an update-heavy, a read-mostly and a read-only one, reads
// of the latest records, short scans, and read-modify-writes.
var core = []mix{
	{"a", [kinds]float64{read: 0.5, update: 0.5}, zipfianly},
	{"b", [kinds]float64{read: 0.95, update: 0.05}, zipfianly},
	{"c", [kinds]float64{read: 1}, zipfianly},
	{"d", [kinds]float64{read: 0.95, insert: 0.05}, latest},
	{"e", [kinds]float64{scan: 0.95, insert: 0.05}, zipfianly},
	{"f", [kinds]float64{read: 0.5, readModifyWrite: 0.5}, zipfianly},
}

// work is what all workers share.
type work struct {
	mix
	sequential bool  // records in order, each once
	whole      int64 // operations, unless a number or a time is asked for
	command    *Command
	ledger     *ledger
	space      int64      // numbers of records among which zipfian choices fall
	places     [kinds]int // of each kind among the operations of the run
}

// newWork returns the work of a command on a store that holds so many records.
func newWork(y *Command, held int64) *work {
	w := &work{command: y, ledger: newLedger(held), whole: y.Records, space: held}
	switch y.Do {
	case "load":
		w.mix = mix{shares: [kinds]float64{insert: 1}}
		w.sequential = true
	case "check":
		w.mix, w.whole = mix{shares: [kinds]float64{read: 1}}, held
		w.sequential = true
	default:
		w.mix = core[slices.IndexFunc(core, func(one mix) bool { return one.name == string(y.Do) })]
		// As in YCSB, the popular records stay the same while others are inserted.
		expected := y.Operations
		if expected == 0 {
			expected = y.Records
		}
		w.space += int64(2 * w.shares[insert] * float64(expected))
	}
	if y.Distribution != own {
		w.choice = y.Distribution
	}
	for k, place := kind(0), 0; k < kinds; k++ {
		if w.shares[k] > 0 {
			w.places[k] = place
			place++
		}
	}
	return w
}

// names are those of the kinds of operations of the run.
func (w *work) names() []string {
	var names []string
	for k, share := range w.shares {
		if share > 0 {
			names = append(names, kindNames[k])
		}
	}
	return names
}

// client returns the client of a worker.
func (w *work) client(conn Conn, worker int) *client {
	draw := rand.New(rand.NewPCG(w.command.Seed, uint64(worker)))
	return &client{Conn: conn, work: w, draw: draw, chooser: newChooser(w.choice, w.space, draw)}
}

// ledger counts inserts. A record may be chosen once it and all before it are acknowledged.
type ledger struct {
	lock         sync.Mutex
	next         int64 // to be inserted
	acknowledged int64 // records below are in the store
	early        map[int64]bool
}

func newLedger(held int64) *ledger {
	return &ledger{next: held, acknowledged: held, early: map[int64]bool{}}
}

// take returns the number of a new record.
func (l *ledger) take() int64 {
	l.lock.Lock()
	defer l.lock.Unlock()
	l.next++
	return l.next - 1
}

// done notes that a record is in the store.
func (l *ledger) done(number int64) {
	l.lock.Lock()
	defer l.lock.Unlock()
	l.early[number] = true
	for l.early[l.acknowledged] {
		delete(l.early, l.acknowledged)
		l.acknowledged++
	}
}

// held returns how many records may be chosen.
func (l *ledger) held() int64 {
	l.lock.Lock()
	defer l.lock.Unlock()
	return l.acknowledged
}

// client does operations over one connection.
type client struct {
	Conn
	work    *work
	draw    *rand.Rand
	chooser chooser
	kind    kind
	number  int64 // of the record
	record  Record
	field   int
	value   []byte
	length  int // of a scan
	found   []Record
}

// Next chooses an operation and generates what it writes.
func (c *client) Next(operation int64) bool {
	y := c.work.command
	c.kind = c.choose()
	switch {
	case c.kind == insert:
		c.number = c.work.ledger.take()
	case c.work.sequential:
		c.number = operation
	default:
		c.number = c.chooser.next(c.work.ledger.held())
	}
	c.record.Key = keyOf(c.number)
	switch c.kind {
	case insert:
		c.record.fill(y.Fields, y.FieldBytes, 0)
	case update, readModifyWrite:
		c.field = c.draw.IntN(y.Fields)
		c.value = valuesOf(c.record.Key, y.FieldBytes).append(c.value[:0], c.field, uint64(operation)+1)
	case scan:
		c.length = 1 + c.draw.IntN(y.ScanLongest)
	}
	return true
}

// choose returns the kind of the next operation.
func (c *client) choose() kind {
	at, last := c.draw.Float64(), insert
	for k, share := range c.work.shares {
		if share > 0 {
			last = kind(k)
			if at -= share; at < 0 {
				break
			}
		}
	}
	return last
}

// Do does the operation. What it reads is checked after its time was taken.
func (c *client) Do() (drive.Result, error) {
	var err error
	c.found = c.found[:0]
	switch c.kind {
	case insert:
		err = c.Insert(&c.record)
	case read:
		c.found, err = c.Read(c.record.Key, c.found)
	case update:
		err = c.Update(c.record.Key, c.field, c.value)
	case scan:
		c.found, err = c.Scan(c.record.Key, c.length, c.found)
	case readModifyWrite:
		if c.found, err = c.Read(c.record.Key, c.found); err == nil {
			err = c.Update(c.record.Key, c.field, c.value)
		}
	}
	result := drive.Result{Kind: c.work.places[c.kind], Ended: time.Now()}
	if err == nil {
		err = c.check()
	}
	if failure := system.AsFailure(err); failure != nil {
		failure.Refused = 1
		return result, failure
	}
	result.Counts = c.counts()
	return result, nil
}

// check compares what was read with what was asked for.
func (c *client) check() error {
	y := c.work.command
	switch c.kind {
	case insert, update:
		return nil
	case scan:
		if len(c.found) > c.length {
			return wrong("a scan of %d records returned %d", c.length, len(c.found))
		}
	case read, readModifyWrite:
		if len(c.found) > 1 {
			return wrong("a read returned %d records", len(c.found))
		}
	}
	if len(c.found) == 0 || c.found[0].Key != c.record.Key {
		return wrong("the store has no record of a key that it acknowledged")
	}
	for i := range c.found {
		if i > 0 && c.found[i].Key <= c.found[i-1].Key {
			return wrong("a scan returned keys out of order")
		}
		if err := c.found[i].check(y.Fields, y.FieldBytes); err != nil {
			return err
		}
	}
	return nil
}

// counts returns the records and bytes that the operation read and wrote.
func (c *client) counts() measure.Counts {
	counts := measure.Counts{Rows: int64(len(c.found))}
	for i := range c.found {
		counts.Bytes += c.found[i].size()
	}
	switch c.kind {
	case insert:
		counts.Rows, counts.Bytes = 1, c.record.size()
	case update:
		counts.Rows, counts.Bytes = 1, int64(len(c.value))
	case readModifyWrite:
		counts.Bytes += int64(len(c.value))
	}
	counts.WireBytes = counts.Bytes
	return counts
}

// Ended notes an insert.
func (c *client) Ended(failure *system.Failure) {
	if c.kind == insert && failure == nil {
		c.work.ledger.done(c.number)
	}
}
