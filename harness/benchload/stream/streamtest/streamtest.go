// Package streamtest helps tests to read generated data.
package streamtest

import (
	"benchbook/benchload/dataset"
	"benchbook/benchload/format"
	"benchbook/benchload/stream"
)

// Read returns all bytes of a dataset in a format, without the format's header.
func Read(g dataset.Generator, f format.Format, options stream.Options) []byte {
	s := stream.New(g, f, options)
	defer s.Close()
	var all []byte
	for {
		piece, more := s.Next()
		if !more {
			return all
		}
		all = append(all, piece.Bytes...)
		s.Release(piece)
	}
}
