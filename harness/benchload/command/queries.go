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
	flags := request.NewFlags("queries")
	extents := addExtent(flags, kind)
	seed := flags.Seed("query-seed", 0)
	types := flags.Text("types", "", "names of types with commas between, of "+strings.Join(devops.QueryTypes(), ", "))
	count := flags.Count("count", 1, 1, 10_000_000)
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
