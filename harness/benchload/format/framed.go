package format

// Framed is a format whose stream has an end, so that the bytes of several streams
// cannot simply be joined.
type Framed interface {
	Format
	// Place takes the bytes of the next piece, in order, and returns the bytes to
	// written.
	Place(piece []byte) []byte
	// Footer returns what comes after the last piece.
	Footer() []byte
}
