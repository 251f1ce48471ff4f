package command

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"

	"benchbook/benchload/drive"
	"benchbook/benchload/event"
	"benchbook/benchload/load"
	"benchbook/benchload/request"
	"benchbook/benchload/target/influx"
	"benchbook/benchload/target/wire"
)

// calibrate measures what the client alone reaches on this machine.
func calibrate(ctx context.Context, arguments []string, out, notes io.Writer) error {
	kind, arguments, err := takeDataset("calibrate", arguments)
	if err != nil {
		return err
	}
	flags := request.NewFlags("calibrate "+kind,
		"Loads the dataset "+kind+" into a null server of its own, and asks it queries: what the client alone reaches on this machine.")
	extents := addExtent(flags, kind)
	batch := flags.Count("batch-rows", "Rows of a batch.", 5000, 1, 1<<22)
	workers := flags.Count("workers", "Connections.", 1, 1, 4096)
	zip := flags.Switch("gzip", "Compresses batches.")
	path := flags.Text("queries", "Asks these too.", "", "the path of a file made by benchload queries")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	extent, err := extents.extent()
	if err != nil {
		return err
	}
	ask := asking{workload: "calibrate-query", options: drive.Options{Workers: int(*workers)}}
	if *path != "" {
		if ask.queries, ask.digest, err = readQueries(*path, 0); err != nil {
			return err
		}
	}

	address, stop, err := startNullServer(ctx, notes)
	if err != nil {
		return err
	}
	defer stop()
	system := influx.New(address, "calibrate", 30*time.Second)
	events := event.NewWriter(out)
	err = loading{
		kind:   kind,
		extent: extent, target: system, batchRows: *batch, workload: "calibrate-load", gzip: *zip,
		options: load.Options{Workers: int(*workers), Retries: 0, Pause: time.Millisecond},
	}.run(ctx, events)
	if err != nil || *path == "" {
		return err
	}
	ask.target = system
	return ask.run(ctx, events)
}

// startNullServer starts the server as a process of its own, so that its CPU
// time is not counted as the client's.
func startNullServer(ctx context.Context, notes io.Writer) (address wire.Address, stop func(), err error) {
	program, err := os.Executable()
	if err != nil {
		return address, nil, fmt.Errorf("the program's own path is not known: %w", err)
	}
	child := exec.CommandContext(ctx, program, "null-server")
	child.Stderr = notes
	// It must not outlive this process, however that ends.
	child.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	output, err := child.StdoutPipe()
	if err != nil {
		return address, nil, fmt.Errorf("the null server could not be started: %w", err)
	}
	if err := child.Start(); err != nil {
		return address, nil, fmt.Errorf("the null server could not be started: %w", err)
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
		return address, nil, fmt.Errorf("the null server did not tell its address: %w", err)
	}
	return address, stop, nil
}
