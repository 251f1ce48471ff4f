package load

import (
	"benchbook/benchload/stream"
)

// Generated is a source that makes its rows while they are sent.
type Generated struct {
	stream *stream.Stream
	rows   int64
}

// NewGenerated takes its batches from a stream whose pieces are batches.
func NewGenerated(s *stream.Stream, rows int64) *Generated { return &Generated{s, rows} }

// Next waits for a batch.
func (g *Generated) Next() (Batch, bool) {
	piece, more := g.stream.Next()
	if !more {
		return Batch{}, false
	}
	return Batch{Rows: piece.Rows, Values: piece.Values, Size: int64(len(piece.Bytes)), Bytes: piece.Bytes, piece: piece}, true
}

// Release gives the memory of a batch back.
func (g *Generated) Release(batch Batch) { g.stream.Release(batch.piece.(*stream.Piece)) }

// Rows is how many there are.
func (g *Generated) Rows() int64 { return g.rows }

// Stop ends the generation.
func (g *Generated) Stop() { g.stream.Close() }

// Err is always nil: making numbers does not fail.
func (g *Generated) Err() error { return nil }
