package command

import (
	"context"
	"fmt"
	"io"
	"strings"

	"benchbook/benchload/dataset"
	"benchbook/benchload/dataset/devops"
	"benchbook/benchload/dataset/iot"
	"benchbook/benchload/query/spec"
	"benchbook/benchload/request"
)

// suite is the queries of a use case.
type suite struct {
	types   func() []string
	queries func(extent dataset.Extent, seed uint64, types []string, count int64) ([]spec.Query, error)
}

var suites = map[string]suite{
	"devops": {devops.QueryTypes, devops.Queries},
	"iot":    {iot.QueryTypes, iot.Queries},
}

// queries writes queries for a dataset.
func queries(_ context.Context, arguments []string, out, _ io.Writer) error {
	kind, arguments, err := takeDataset("queries", arguments)
	if err != nil {
		return err
	}
	suite, known := suites[kind]
	if !known {
		return request.Mistakef("queries are made for the datasets devops and iot only, not for %s; name one of them.", kind)
	}
	flags := request.NewFlags("queries "+kind,
		"Writes queries for the dataset "+kind+", one JSON object a line: what to ask, in no system's language.")
	extents := addExtent(flags, kind)
	seed := flags.Seed("query-seed", "What the windows and hosts of the queries follow from.")
	types := flags.Text("types", "The types of queries.", "", "names of types with commas between, of "+strings.Join(suite.types(), ", "))
	count := flags.Count("count", "Queries of each type.", 1, 1, 10_000_000)
	flags.Require("query-seed", "types", "count")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	extent, err := extents.extent()
	if err != nil {
		return err
	}
	made, err := suite.queries(extent, *seed, strings.Split(*types, ","), *count)
	if err != nil {
		return err
	}
	if err := spec.Write(out, made); err != nil {
		return fmt.Errorf("the queries could not be written: %w", err)
	}
	return nil
}
