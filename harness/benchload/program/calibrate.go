package program

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"benchbook/benchload/command"
	"benchbook/benchload/drive"
	"benchbook/benchload/event"
	"benchbook/benchload/query"
	"benchbook/benchload/query/spec"
	"benchbook/benchload/target/influx"
	"benchbook/benchload/target/wire"
)

// calibrateCommand has a command for each kind of dataset.
type calibrateCommand struct {
	Devops Calibrate[devopsFlags] `cmd:"" help:"Load telemetry of hosts into a null server."`
	IoT    Calibrate[iotFlags]    `cmd:"" name:"iot" help:"Load telemetry of trucks into a null server."`
}

// Help describes all of them.
func (calibrateCommand) Help() string {
	return "Starts a null server, loads the dataset into it and asks it queries: what the client alone reaches on this machine."
}

// calibrate measures what the client alone reaches on this machine.
type Calibrate[D DatasetFlags] struct {
	Dataset   D             `embed:""`
	BatchRows int64         `default:"5000" range:"1:4194304" placeholder:"N" help:"Rows of a batch. Default: ${default}."`
	Workers   int           `default:"1" range:"1:4096" placeholder:"N" help:"Connections. Default: ${default}."`
	Duration  time.Duration `placeholder:"LENGTH" help:"Load for so long, with rows that follow those of the dataset. Default: load the dataset once."`
	Gzip      bool          `help:"Compress batches."`
	Queries   string        `placeholder:"FILE" help:"Ask these queries too, as benchload queries writes them."`
}

// Run loads and asks.
func (k *Calibrate[D]) Run(c *command.Console) error {
	extent, err := k.Dataset.Extent()
	if err != nil {
		return err
	}
	var queries []spec.Query
	var digest string
	if k.Queries != "" {
		if queries, digest, err = readQueries(k.Queries); err != nil {
			return err
		}
	}
	address, stop, err := startNullServer(c)
	if err != nil {
		return err
	}
	defer stop()
	tested := influx.New(address, "calibrate", 30*time.Second)
	pace := drive.Pace{Workers: k.Workers}
	loading := loading{
		kind: k.Dataset.Kind(), create: k.Dataset.Generator, extent: extent, target: tested, gzip: k.Gzip, batchRows: k.BatchRows,
		pace: drive.Pace{Workers: k.Workers, Duration: k.Duration},
	}
	err = loading.run(command.NewWorkload(c, event.Start{Workload: "calibrate-load", Workers: k.Workers, Loop: "closed"}), false, false)
	if err != nil || k.Queries == "" {
		return err
	}
	texts, err := textsOf(tested, queries)
	if err != nil {
		return err
	}
	w := command.NewWorkload(c, event.Start{
		Workload: "calibrate-query", Target: tested.Name(), Workers: k.Workers, Loop: "closed", Operations: int64(len(texts)),
	})
	seen := query.NewSeen(queries)
	w.Answered = seen.Event
	return w.Ask(query.Work(texts, seen, tested, pace), 0, digest)
}

// startNullServer starts the server as a separate process, so that its CPU time does
// not count as the client's.
func startNullServer(c *command.Console) (address wire.Address, stop func(), err error) {
	program, err := os.Executable()
	if err != nil {
		return address, nil, fmt.Errorf("cannot find the path of this program: %w", err)
	}
	child := exec.CommandContext(c.Context, program, "null-server")
	child.Stderr = c.Notes
	// It must not outlive this process, however that ends.
	child.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	output, err := child.StdoutPipe()
	if err == nil {
		err = child.Start()
	}
	if err != nil {
		return address, nil, fmt.Errorf("cannot start the null server: %w", err)
	}
	stop = func() {
		_ = child.Process.Signal(syscall.SIGTERM)
		_ = child.Wait()
	}
	var listening struct{ URL string }
	line, err := bufio.NewReader(output).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &listening)
	}
	if err == nil {
		address, err = wire.ParseAddress(listening.URL)
	}
	if err != nil {
		stop()
		return address, nil, fmt.Errorf("the null server did not print its address: %w", err)
	}
	return address, stop, nil
}
