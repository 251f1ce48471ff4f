package format

// Framed is a format whose stream has an end of its own, so that the bytes of
// several streams cannot simply be joined.
type Framed interface {
	Format
	// Place takes the bytes of the next piece, in order, and gives those that are
	// written.
	Place(piece []byte) []byte
	// Footer is what comes after the last piece.
	Footer() []byte
}
