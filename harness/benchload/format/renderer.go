// Package format turns the values of a dataset into bytes. Digits are made
// straight from integers: no formatting of floats, the same bytes everywhere.
package format

import "benchbook/benchload/dataset"

// Renderer writes rows. One is used by one goroutine at a time.
type Renderer interface {
	// Append appends rows from to end-1 of a block, counted inside it.
	Append(text []byte, block *dataset.Block, from, end int64) []byte
	// Finish appends what closes a piece of the stream; rows appended since the
	// last Finish belong to one piece.
	Finish(text []byte) []byte
}

// Format makes renderers for a dataset.
type Format interface {
	// Header returns what comes before the first piece, possibly nothing.
	Header() []byte
	// Renderer creates a renderer for one goroutine.
	Renderer() Renderer
}

// room makes sure that so many bytes can be written behind the text.
func room(text []byte, bytes int) []byte {
	if cap(text)-len(text) >= bytes {
		return text
	}
	larger := make([]byte, len(text), 2*cap(text)+bytes)
	copy(larger, text)
	return larger
}
