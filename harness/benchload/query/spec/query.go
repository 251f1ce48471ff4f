// Package spec describes queries so that any system can be asked the same.
package spec

// Query asks for an aggregate of one field over buckets of time, or, with a form,
// what that form asks.
type Query struct {
	ID          int64    `json:"id"`
	Type        string   `json:"type"`
	Table       string   `json:"table"`
	Field       string   `json:"field"`
	Aggregate   string   `json:"aggregate"` // max or mean
	BucketNS    int64    `json:"bucket_ns"` // buckets start at multiples of it since 1970
	Hosts       []string `json:"hosts"`     // none for all
	StartNS     int64    `json:"start_ns"`
	EndNS       int64    `json:"end_ns"` // not included
	GroupByHost bool     `json:"group_by_host"`
	Form        string   `json:"form,omitempty"`  // of the iot use case; table, field, aggregate and hosts are then not used
	Fleet       string   `json:"fleet,omitempty"` // that a form asks for
	Limit       float64  `json:"limit,omitempty"` // of a form
}
