package command

import (
	"context"
	"fmt"
	"io"
	"strings"

	"benchbook/benchload/dataset/devops"
	"benchbook/benchload/query/spec"
	"benchbook/benchload/request"
)

// queries writes queries for a dataset.
func queries(_ context.Context, arguments []string, out, _ io.Writer) error {
	kind, arguments, err := takeDataset("queries", arguments)
	if err != nil {
		return err
	}
	if kind != "devops" {
		return request.Mistakef("queries are made for the dataset devops only, not for %s; name devops.", kind)
	}
	flags := request.NewFlags("queries "+kind,
		"Writes queries for the dataset "+kind+", one JSON object a line: what to ask, in no system's language.")
	extents := addExtent(flags, kind)
	seed := flags.Seed("query-seed", "What the windows and hosts of the queries follow from.")
	types := flags.Text("types", "The types of queries.", "", "names of types with commas between, of "+strings.Join(devops.QueryTypes(), ", "))
	count := flags.Count("count", "Queries of each type.", 1, 1, 10_000_000)
	flags.Require("query-seed", "types", "count")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	extent, err := extents.extent()
	if err != nil {
		return err
	}
	made, err := devops.Queries(extent, *seed, strings.Split(*types, ","), *count)
	if err != nil {
		return err
	}
	if err := spec.Write(out, made); err != nil {
		return fmt.Errorf("the queries could not be written: %w", err)
	}
	return nil
}
