package program

import (
	"fmt"
	"slices"
	"strings"

	"benchbook/benchload/command"
	"benchbook/benchload/dataset/devops"
	"benchbook/benchload/dataset/frames"
	"benchbook/benchload/dataset/hits"
	"benchbook/benchload/dataset/iot"
	"benchbook/benchload/query/spec"
)

// queriesCommand has a command for each dataset that there are queries for.
type queriesCommand struct {
	Devops writeQueries[devopsFlags] `cmd:"" help:"Write queries for the dataset devops. Types: ${devops_types}."`
	IoT    writeQueries[iotFlags]    `cmd:"" name:"iot" help:"Write queries for the dataset iot. Types: ${iot_types}."`
	Frames writeQueries[framesFlags] `cmd:"" help:"Write the questions for the dataset frames. Types: ${frames_types}."`
	Joins  writeQueries[joinFlags]   `cmd:"" name:"join-frames" help:"Write the questions for the dataset join-frames. Types: ${join_types}."`
	Hits   writeQueries[hitsFlags]   `cmd:"" help:"Write the questions for the dataset hits. Types: ${hits_types}."`
}

// Help describes all of them.
func (queriesCommand) Help() string {
	return "One JSON object per line says what to ask, in the language of no system."
}

// writeQueries writes queries for a dataset.
type writeQueries[D DatasetFlags] struct {
	Dataset   D      `embed:""`
	QuerySeed uint64 `required:"" placeholder:"N" help:"The number that the windows and hosts of the queries follow from."`
	Types     string `required:"" placeholder:"NAME,…" help:"The types of queries, separated by commas."`
	Count     int64  `required:"" range:"1:10000000" placeholder:"N" help:"Queries of each type."`
}

// Run writes them.
func (q *writeQueries[D]) Run(c *command.Console) error {
	extent, err := q.Dataset.Extent()
	if err != nil {
		return err
	}
	known, draw := devops.QueryTypes(), devops.Queries
	switch q.Dataset.Kind() {
	case "iot":
		known, draw = iot.QueryTypes(), iot.Queries
	case "frames":
		known, draw = frames.QueryTypes(), frames.Queries
	case "join-frames":
		known, draw = frames.JoinTypes(), frames.Queries
	case "hits":
		known, draw = hits.QueryTypes(), hits.Queries
	}
	types := strings.Split(q.Types, ",")
	for _, name := range types {
		if !slices.Contains(known, name) {
			return command.Mistakef("--types: %s", command.Unknown(name, known))
		}
	}
	queries, err := draw(extent, q.QuerySeed, types, q.Count)
	if err != nil {
		return command.Mistakef("%s.", err)
	}
	if err := spec.Write(c.Out, queries); err != nil {
		return fmt.Errorf("cannot write the queries: %w", err)
	}
	return nil
}
