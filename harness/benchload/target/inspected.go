package target

// Count is how much of a table a system holds.
type Count struct {
	Rows   int64            `json:"rows"`
	Values map[string]int64 `json:"fields"` // that are there, of each field
}

// Inspected is a target that tells what the server is and holds, for systems
// that nothing but a client library can ask.
type Inspected interface {
	Target
	// Version is what the server says that it is.
	Version() (string, error)
	// Count counts every table of the database, by asking the server for its rows.
	Count() (map[string]Count, error)
}
