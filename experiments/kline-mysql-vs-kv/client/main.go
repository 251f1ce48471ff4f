// The client of the experiment kline-mysql-vs-kv is benchload with more commands: those of the
// dataset kline, and of reads of ranges of its bars.
package main

import (
	"benchbook/benchload/program"
	"benchbook/experiments/kline-mysql-vs-kv/client/kline"
)

// commands are what it can do beside benchload.
type commands struct {
	Generate struct {
		Kline program.Generate[klineFlags] `cmd:"" help:"Write one-minute bars of the prices of stocks, 240 per working day."`
	} `cmd:""`
	Load struct {
		Kline program.Load[klineFlags] `cmd:"" help:"Load one-minute bars of the prices of stocks."`
	} `cmd:""`
	Calibrate struct {
		Kline program.Calibrate[klineFlags] `cmd:"" help:"Load one-minute bars into a null server."`
	} `cmd:""`
	BarsLoad     barsLoadCommand     `cmd:"" name:"bars-load" help:"Store the dataset kline for reads of ranges."`
	BarsRequests barsRequestsCommand `cmd:"" name:"bars-requests" help:"Write requests for ranges of bars."`
	BarsRead     barsReadCommand     `cmd:"" name:"bars-read" help:"Read ranges of bars and measure."`
	BarsService  barsServiceCommand  `cmd:"" name:"bars-service" help:"Serve bars over HTTP from packed days in Redis."`
}

// client is the program.
var client = program.Benchload.With(commands{}, map[string]string{"tables": kline.TableName + " of kline"})

func main() { client.Main() }
