// The client of the experiment influx-local-vs-s3fs is benchload with more datasets: the points that
// the published tools inch and influx-stress write.
package main

import (
	"benchbook/benchload/program"
	"benchbook/experiments/influx-local-vs-s3fs/client/series"
)

// commands are what it can do beside benchload.
type commands struct {
	Generate struct {
		Inch   program.Generate[inchFlags]   `cmd:"" help:"Write the points of the tool inch: every combination of tags."`
		Stress program.Generate[stressFlags] `cmd:"" help:"Write the points of the tool influx-stress."`
	} `cmd:""`
	Load struct {
		Inch   program.Load[inchFlags]   `cmd:"" help:"Load the points of the tool inch."`
		Stress program.Load[stressFlags] `cmd:"" help:"Load the points of the tool influx-stress."`
	} `cmd:""`
	Calibrate struct {
		Inch   program.Calibrate[inchFlags]   `cmd:"" help:"Load the points of the tool inch into a null server."`
		Stress program.Calibrate[stressFlags] `cmd:"" help:"Load the points of the tool influx-stress into a null server."`
	} `cmd:""`
}

// client is the program.
var client = program.Benchload.With(commands{}, map[string]string{
	"tables": series.InchTable + " of inch; " + series.StressTable + " of stress",
})

func main() { client.Main() }
