package hits

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"benchbook/benchload/dataset"
	"benchbook/benchload/query/spec"
)

// Questions is the number of questions of the publication.
const Questions = 43

// largeGroup is the share of rows above which questions 28 and 29 list a group: the
// publication asks for more than 100,000 of 100 million.
const largeGroup = 1000

// QueryTypes returns the names of the questions, in the publication's order.
func QueryTypes() []string {
	names := make([]string, Questions)
	for i := range names {
		names[i] = "q" + strconv.Itoa(i+1)
	}
	return names
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
				StartNS: extent.WindowStart, EndNS: extent.WindowEnd, Limit: float64(extent.Scale / largeGroup),
			})
		}
	}
	return queries, nil
}
