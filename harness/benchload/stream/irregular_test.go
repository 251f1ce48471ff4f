package stream

import (
	"bytes"
	"testing"

	"benchbook/benchload/dataset/iot"
	"benchbook/benchload/format"
)

// A generator whose blocks have any number of rows, also none, makes the same
// bytes for every cut.
func TestBlocksOfAnyNumberOfRows(t *testing.T) {
	e := extent(3, 400)
	bytesOf := func(options Options) []byte {
		generator := iot.New(e)
		s := New(generator, format.NewInflux(generator), options)
		defer s.Close()
		var all []byte
		for {
			piece, more := s.Next()
			if !more {
				return all
			}
			if lines := int64(bytes.Count(piece.Bytes, []byte("\n"))); lines != piece.Rows {
				t.Fatalf("a piece of %d rows has %d lines", piece.Rows, lines)
			}
			all = append(all, piece.Bytes...)
			s.Release(piece)
		}
	}
	whole := bytesOf(Options{Workers: 1})
	for _, options := range []Options{
		{Workers: 2, blockBytes: 1}, {Workers: 3, blockBytes: 1, PieceRows: 1}, {Workers: 4, blockBytes: 1, PieceRows: 5000},
		{Workers: 3, PieceRows: 100, blockBytes: 3 * 128}, {Workers: 2, blockBytes: 20000, PieceRows: 77},
	} {
		if !bytes.Equal(bytesOf(options), whole) {
			t.Errorf("the bytes differ with %+v", options)
		}
	}
}
