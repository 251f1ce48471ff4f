package target

import (
	"benchbook/benchload/dataset"
	"benchbook/benchload/format"
)

// Shaped is a target that does not take line protocol. Its batches are in a
// format of its own: text such as the body of a bulk request, or format.Rows for
// clients that bind typed values, which read a batch by a format.Cursor.
type Shaped interface {
	Target
	// Format is what a batch of this dataset is to be. It talks to no server.
	Format(generator dataset.Generator) (format.Format, error)
	// Prepare makes what has to be there before the first row, such as tables; what
	// is there already stays. It comes after Format and before the first client.
	Prepare() error
}
