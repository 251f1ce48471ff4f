package devops

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

// kind is a type of query of the suite.
type kind struct {
	name      string
	aggregate string
	bucket    time.Duration
	window    time.Duration
	hosts     int64 // chosen at random; zero for all, grouped
	shrinks   bool  // the window may be as short as the dataset
}

var kinds = []kind{
	{"1-host-1-hr", "max", time.Minute, time.Hour, 1, false},
	{"1-host-12-hr", "max", time.Minute, 12 * time.Hour, 1, false},
	{"8-host-1-hr", "max", time.Minute, time.Hour, 8, false},
	{"groupby", "mean", time.Hour, 24 * time.Hour, 0, true},
	{"groupby-max", "max", time.Minute, time.Hour, 0, false},
}

// QueryTypes returns the names of the types of queries.
func QueryTypes() []string {
	names := make([]string, len(kinds))
	for i := range kinds {
		names[i] = kinds[i].name
	}
	return names
}

// Queries draws count queries of each type: the window of time starts anywhere, to the
// nanosecond, and the hosts are drawn without repetition. The queries of one type do not
// depend on the other types.
func Queries(extent dataset.Extent, seed uint64, types []string, count int64) ([]spec.Query, error) {
	var queries []spec.Query
	for _, name := range types {
		place := slices.IndexFunc(kinds, func(k kind) bool { return k.name == name })
		if place < 0 {
			return nil, fmt.Errorf("no query type %q; types are %s", name, strings.Join(QueryTypes(), ", "))
		}
		k := kinds[place]
		if err := k.fits(extent); err != nil {
			return nil, err
		}
		for n := range count {
			key := walk.Key(extent.Seed, seed, uint64(place), uint64(n))
			queries = append(queries, k.query(extent, key, int64(len(queries))))
		}
	}
	return queries, nil
}

// fits is an error if the dataset is too short or too narrow.
func (k kind) fits(extent dataset.Extent) error {
	if length := time.Duration(extent.WindowEnd - extent.WindowStart); length < k.window && !k.shrinks {
		least := time.Unix(0, extent.WindowStart).Add(k.window).UTC().Format(time.RFC3339Nano)
		return fmt.Errorf("a query of type %s spans %s, but the dataset is only %s long; give --end %s or later, or leave the type out of --types",
			k.name, k.window, length, least)
	}
	if extent.SeriesCount < k.hosts {
		return fmt.Errorf("a query of type %s asks for %d hosts, but the dataset has only %d; give --scale %d or more, or leave the type out of --types",
			k.name, k.hosts, extent.SeriesCount, k.hosts)
	}
	return nil
}

// query makes the query of a key.
func (k kind) query(extent dataset.Extent, key uint64, id int64) spec.Query {
	length := extent.WindowEnd - extent.WindowStart
	window := min(int64(k.window), length)
	start := extent.WindowStart + int64(below64(walk.At(key, 0), uint64(length-window+1)))
	q := spec.Query{
		ID: id, Type: k.name, Table: "cpu", Field: "usage_user", Aggregate: k.aggregate,
		BucketNS: int64(k.bucket), Hosts: []string{}, StartNS: start, EndNS: start + window,
		GroupByHost: k.hosts == 0,
	}
	for draw := uint64(1); int64(len(q.Hosts)) < k.hosts; draw++ {
		host := extent.SeriesFirst + int64(below64(walk.At(key, draw), uint64(extent.SeriesCount)))
		if name := HostName(host); !slices.Contains(q.Hosts, name) {
			q.Hosts = append(q.Hosts, name)
		}
	}
	return q
}

// below64 scales 64 random bits to 0 … limit-1.
func below64(random, limit uint64) uint64 {
	high, _ := bits.Mul64(random, limit)
	return high
}
