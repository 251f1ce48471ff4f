package spec

import "slices"

// Limit keeps the first queries of each type, in their order; all for zero.
func Limit(queries []Query, each int64) []Query {
	if each == 0 {
		return queries
	}
	seen := map[string]int64{}
	var kept []Query
	for _, q := range queries {
		if seen[q.Type] < each {
			seen[q.Type]++
			kept = append(kept, q)
		}
	}
	return kept
}

// Others returns the queries with these ids that are not among the chosen ones.
func Others(queries, chosen []Query, ids []int64) []Query {
	var others []Query
	for _, q := range queries {
		among := func(one Query) bool { return one.ID == q.ID }
		if slices.Contains(ids, q.ID) && !slices.ContainsFunc(chosen, among) {
			others = append(others, q)
		}
	}
	return others
}
