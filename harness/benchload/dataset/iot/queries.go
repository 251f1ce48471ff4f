package iot

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"time"

	"benchbook/benchload/dataset"
	"benchbook/benchload/query/spec"
	"benchbook/benchload/walk"
)

// kind is a type of query of the use case.
type kind struct {
	form   string
	window time.Duration // as long as this, or as the dataset; zero for one from its start to anywhere in its second half
	bucket time.Duration
	limit  float64 // of long sessions: the share of the buckets
}

var kinds = []kind{
	{spec.LastLoc, 0, 0, 0},
	{spec.LowFuel, 0, 0, 0.1},
	{spec.HighLoad, 0, 0, 0.9},
	// Few trucks of a fleet stand still for so long: at the limit of the use case,
	// which is 1, most answers are empty and compare nothing; at 5 a quarter is.
	{spec.StationaryTrucks, 10 * time.Minute, 0, 20},
	{spec.LongDrivingSessions, 4 * time.Hour, 10 * time.Minute, 22. / 24},
	{spec.AvgLoad, 12 * time.Hour, 0, 0},
}

// QueryTypes returns the names of the types of queries.
func QueryTypes() []string {
	names := make([]string, len(kinds))
	for i := range kinds {
		names[i] = kinds[i].form
	}
	return names
}

// Queries draws count queries of each type: the fleet and the window of time. The queries
// of one type do not depend on the other types.
func Queries(extent dataset.Extent, seed uint64, types []string, count int64) ([]spec.Query, error) {
	var queries []spec.Query
	for _, name := range types {
		place := slices.IndexFunc(kinds, func(k kind) bool { return k.form == name })
		if place < 0 {
			return nil, fmt.Errorf("no query type %q; types are %s", name, strings.Join(QueryTypes(), ", "))
		}
		for n := range count {
			key := walk.Key(extent.Seed, seed, uint64(place), uint64(n))
			queries = append(queries, kinds[place].query(extent, key, int64(len(queries))))
		}
	}
	return queries, nil
}

// query makes the query of a key. Windows with buckets begin and end where
// buckets do, so that none is cut.
func (k kind) query(extent dataset.Extent, key uint64, id int64) spec.Query {
	fleets := choices[0]
	q := spec.Query{
		ID: id, Type: k.form, Form: k.form, Hosts: []string{}, GroupByHost: true, Limit: k.limit, BucketNS: int64(k.bucket),
		Table: spec.Answers[k.form].Table, Fleet: fleets[below(walk.At(key, 0), uint64(len(fleets)))],
	}
	length := extent.WindowEnd - extent.WindowStart
	switch {
	case k.form == spec.AvgLoad:
		q.Fleet = ""
	case k.form == spec.LowFuel && length < int64(48*time.Hour):
		q.Limit = 0.9 // all start with a full tank, which lasts a day
	}
	if k.window == 0 {
		q.StartNS = extent.WindowStart
		q.EndNS = extent.WindowEnd - int64(below(walk.At(key, 1), uint64(length/2+1)))
		return q
	}
	window := min(int64(k.window), length)
	q.StartNS = extent.WindowStart + int64(below(walk.At(key, 1), uint64(length-window+1)))
	q.EndNS = q.StartNS + window
	if bucket := int64(k.bucket); bucket > 0 && window >= bucket {
		q.StartNS -= q.StartNS % bucket
		q.EndNS = q.StartNS + window/bucket*bucket
		// The limit is exact in whole numbers: more buckets than this.
		q.Limit = float64(int64(k.limit * float64(window/bucket)))
	}
	return q
}

// below scales 64 random bits to 0 … limit-1.
func below(random, limit uint64) uint64 {
	high, _ := bits.Mul64(random, limit)
	return high
}
