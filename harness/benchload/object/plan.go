package object

import (
	"math"
	"sync/atomic"

	"benchbook/benchload/walk"
)

// Kind is what an operation does with an object.
type Kind int

// The kinds of operations.
const (
	Put Kind = iota
	Get
	Delete
)

// Kinds are their names in events.
var Kinds = [...]string{"put", "get", "delete"}

// Mix is the share of operations of each kind; any numbers, not percent.
type Mix [3]float64

// Only returns a mix of one kind.
func Only(kind Kind) Mix {
	var mix Mix
	mix[kind] = 1
	return mix
}

// kind returns the kind at a place between 0 and 1.
func (m Mix) kind(at float64) Kind {
	at *= m[Put] + m[Get] + m[Delete]
	for kind := Put; kind < Delete; kind++ {
		if at < m[kind] {
			return kind
		}
		at -= m[kind]
	}
	return Delete
}

// single reports whether there is only one kind.
func (m Mix) single() bool {
	kinds := 0
	for _, part := range m {
		if part > 0 {
			kinds++
		}
	}
	return kinds == 1
}

// share is the objects of one worker. No other worker touches them, so none gets what
// another deletes meanwhile, and every answer is known in advance.
type share struct {
	mix    Mix
	batch  int
	random uint64 // key of its random numbers
	n      uint64
	live   []Entry
	next   *atomic.Int64 // number of the next new object, of all workers
	end    int64         // no new object has this number or a later one
}

// shares deals the objects out to the workers. New objects have the numbers from first
// on, below end.
func shares(mix Mix, workers, batch int, seed uint64, kept []Entry, first, end int64) []*share {
	made := make([]*share, workers)
	next := new(atomic.Int64)
	next.Store(first)
	for i := range made {
		made[i] = &share{mix: mix, batch: batch, random: walk.Key(seed, uint64(i)), next: next, end: end}
	}
	for i, entry := range kept {
		owner := made[i%workers]
		owner.live = append(owner.live, entry)
	}
	return made
}

// draw returns the next random number.
func (s *share) draw() uint64 {
	s.n++
	return walk.At(s.random, s.n)
}

// choose chooses the next operation; false if this worker has no object for it.
func (s *share) choose(items []Item) (Kind, []Item, bool) {
	kind := s.mix.kind(float64(s.draw()>>11) / (1 << 53))
	if kind != Put && len(s.live) == 0 {
		if s.mix[Put] == 0 {
			return kind, nil, false
		}
		kind = Put // all are deleted: the next operations need one
	}
	items = items[:0]
	if kind == Put {
		// All batches but the last are full, whatever the number of workers.
		number := s.next.Add(int64(s.batch)) - int64(s.batch)
		for range s.batch {
			if number < s.end {
				items = append(items, Item{Number: number})
			}
			number++
		}
		return kind, items, len(items) > 0
	}
	at := int(s.draw() % uint64(len(s.live)))
	if kind == Delete {
		last := len(s.live) - 1
		s.live[at], s.live[last] = s.live[last], s.live[at]
		at = last
	}
	return kind, append(items, Item{Number: s.live[at].Number, Name: s.live[at].Name}), true
}

// done notes what was acknowledged.
func (s *share) done(kind Kind, items []Item) {
	switch kind {
	case Put:
		for _, item := range items {
			s.live = append(s.live, Entry{item.Number, item.Name})
		}
	case Delete:
		s.live = s.live[:len(s.live)-1]
	case Get:
	}
}

// failed forgets an object that may be there or not.
func (s *share) failed(kind Kind) {
	if kind == Delete {
		s.live = s.live[:len(s.live)-1]
	}
}

// endless is the end of new objects if their number is not limited.
const endless = math.MaxInt64
