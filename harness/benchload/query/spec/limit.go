package spec

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
