package load

import (
	"sync"

	"benchbook/benchload/stream"
)

// Generated is a source that generates its rows while they are sent. With more than
// one stream it continues with the next stream when one ends.
type Generated struct {
	rows int64
	open func(number int64) *stream.Stream // nil after the last stream

	lock    sync.Mutex
	current *stream.Stream
	number  int64 // of the current stream
	stopped bool
}

// generatedPiece is a piece and the stream that takes it back.
type generatedPiece struct {
	stream *stream.Stream
	piece  *stream.Piece
}

// NewGenerated takes its batches from a stream whose pieces are batches.
func NewGenerated(s *stream.Stream, rows int64) *Generated {
	return &Generated{rows: rows, current: s, open: func(int64) *stream.Stream { return nil }}
}

// NewEndless takes its batches from one stream after the other, numbered from zero;
// the end is where open returns nil.
func NewEndless(open func(number int64) *stream.Stream) *Generated {
	return &Generated{current: open(0), open: open}
}

// Next waits for a batch.
func (g *Generated) Next() (Batch, bool) {
	for {
		s, number := g.stream()
		if s == nil {
			return Batch{}, false
		}
		if piece, more := s.Next(); more {
			return Batch{
				Rows: piece.Rows, Values: piece.Values, Size: int64(len(piece.Bytes)), Bytes: piece.Bytes,
				owner: generatedPiece{s, piece},
			}, true
		}
		g.advance(number)
	}
}

// stream returns the current stream and its number; nil if there is none.
func (g *Generated) stream() (*stream.Stream, int64) {
	g.lock.Lock()
	defer g.lock.Unlock()
	if g.stopped {
		return nil, 0
	}
	return g.current, g.number
}

// advance opens the stream after the one of this number, unless that was done already.
func (g *Generated) advance(number int64) {
	g.lock.Lock()
	defer g.lock.Unlock()
	if g.stopped || g.number != number || g.current == nil {
		return
	}
	g.number++
	g.current = g.open(g.number)
}

// Release returns the memory of a batch.
func (g *Generated) Release(batch Batch) {
	owner := batch.owner.(generatedPiece)
	owner.stream.Release(owner.piece)
}

// Rows is how many there are; zero for an endless source.
func (g *Generated) Rows() int64 { return g.rows }

// Stop ends the generation.
func (g *Generated) Stop() {
	g.lock.Lock()
	defer g.lock.Unlock()
	g.stopped = true
	if g.current != nil {
		g.current.Close()
	}
}
