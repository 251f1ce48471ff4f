package frames

import (
	"fmt"
	"slices"
	"strings"

	"benchbook/benchload/dataset"
	"benchbook/benchload/query/spec"
)

// QueryTypes returns the names of the ten questions, in the publication's order.
func QueryTypes() []string {
	return []string{"q1", "q2", "q3", "q4", "q5", "q6", "q7", "q8", "q9", "q10"}
}

// Queries repeats the question of each type count times: a question has no parameters.
func Queries(extent dataset.Extent, _ uint64, types []string, count int64) ([]spec.Query, error) {
	var queries []spec.Query
	for _, name := range types {
		if !slices.Contains(QueryTypes(), name) {
			return nil, fmt.Errorf("no query type %q; types are %s", name, strings.Join(QueryTypes(), ", "))
		}
		for range count {
			queries = append(queries, spec.Query{
				ID: int64(len(queries)), Type: name, Table: TableName, Form: name,
				StartNS: extent.WindowStart, EndNS: extent.WindowEnd,
			})
		}
	}
	return queries, nil
}
