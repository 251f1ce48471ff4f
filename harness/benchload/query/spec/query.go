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
	Form        string   `json:"form,omitempty"`  // of the iot use case, of frames, of join-frames or of hits; table, field, aggregate and hosts are then not used
	Fleet       string   `json:"fleet,omitempty"` // that a form asks for
	Limit       float64  `json:"limit,omitempty"` // of a form
}

// Within is the window in a coarser unit of time, for systems that keep times in
// such units: rows at whole units are inside exactly if they are inside the query.
func (q Query) Within(unitNS int64) (start, end int64) {
	up := func(ns int64) int64 { return (ns + unitNS - 1) / unitNS }
	return up(q.StartNS), up(q.EndNS)
}

// Part is a stretch of a query's window that lies in one bucket, or a run of
// whole buckets.
type Part struct {
	StartNS, EndNS int64
	Bucket         int64 // where its only bucket starts; -1 for a run of whole ones
}

// Parts cuts the window where its buckets are not whole, for systems that count
// only whole buckets: at most a part of the first, the whole ones, a part of the last.
func (q Query) Parts() []Part {
	up := (q.StartNS + q.BucketNS - 1) / q.BucketNS * q.BucketNS
	down := q.EndNS / q.BucketNS * q.BucketNS
	if up > down {
		return []Part{{q.StartNS, q.EndNS, down}}
	}
	var parts []Part
	if q.StartNS < up {
		parts = append(parts, Part{q.StartNS, up, up - q.BucketNS})
	}
	if up < down {
		parts = append(parts, Part{up, down, -1})
	}
	if down < q.EndNS {
		parts = append(parts, Part{down, q.EndNS, down})
	}
	return parts
}
