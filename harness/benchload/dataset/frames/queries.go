package frames

import (
	"fmt"
	"slices"
	"strings"

	"benchbook/benchload/dataset"
	"benchbook/benchload/query/spec"
)

// QueryTypes returns the names of the ten group-by questions, in the publication's order.
func QueryTypes() []string {
	return []string{"q1", "q2", "q3", "q4", "q5", "q6", "q7", "q8", "q9", "q10"}
}

// JoinTypes returns the names of the five join questions, in the publication's order.
func JoinTypes() []string {
	return []string{"small-inner", "medium-inner", "medium-left", "medium-inner-text", "big-inner"}
}

// Queries repeats the question of each type count times: a question has no parameters.
func Queries(extent dataset.Extent, _ uint64, types []string, count int64) ([]spec.Query, error) {
	var queries []spec.Query
	known := append(QueryTypes(), JoinTypes()...)
	for _, name := range types {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("no query type %q; types are %s", name, strings.Join(known, ", "))
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
