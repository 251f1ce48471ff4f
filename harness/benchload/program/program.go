// Package program is the program benchload: a file for each command, and the systems that
// commands can use.
package program

import (
	"strings"

	"benchbook/benchload/command"
	"benchbook/benchload/dataset/devops"
	"benchbook/benchload/dataset/frames"
	"benchbook/benchload/dataset/hits"
	"benchbook/benchload/dataset/iot"
	"benchbook/benchload/ycsb"
)

// Benchload is the program.
var Benchload = command.Program{
	Name: "benchload", Version: "0.1.0", Commands: commands{}, Names: helpNames(),
	Description: "Generates the datasets of database benchmarks, loads them and drives queries. The guide is docs/benchload.md.",
}

// commands are what the program can do; a new one adds an entry.
type commands struct {
	Generate   generateCommand   `cmd:"" help:"Write a dataset to standard output."`
	Load       loadCommand       `cmd:"" help:"Load a dataset, or a file, into a system."`
	Queries    queriesCommand    `cmd:"" help:"Write queries for a dataset."`
	Query      queryCommand      `cmd:"" help:"Ask queries and measure."`
	Inspect    inspectCommand    `cmd:"" help:"Print a server's version and what it holds."`
	Blob       blobCommand       `cmd:"" help:"Put, get and delete objects and measure."`
	Ycsb       ycsb.Command      `cmd:"" help:"Do the operations of a YCSB core workload and measure."`
	NullServer nullServerCommand `cmd:"" name:"null-server" help:"Serve requests and keep nothing, for calibration."`
	Calibrate  calibrateCommand  `cmd:"" help:"Measure what the client alone reaches on this machine."`
}

// helpNames are the lists of names in help texts.
func helpNames() map[string]string {
	var tables []string
	for _, kind := range []string{"devops", "iot", "frames", "join-frames", "hits"} {
		tables = append(tables, strings.Join(tablesOf[kind], ", ")+" of "+kind)
	}
	return map[string]string{
		"tables": strings.Join(tables, "; "), "formats": strings.Join(formatNames(), ","),
		"devops_types": strings.Join(devops.QueryTypes(), ", "), "iot_types": strings.Join(iot.QueryTypes(), ", "),
		"frames_types": strings.Join(frames.QueryTypes(), ", "), "join_types": strings.Join(frames.JoinTypes(), ", "),
		"hits_types": strings.Join(hits.QueryTypes(), ", "),
	}
}
