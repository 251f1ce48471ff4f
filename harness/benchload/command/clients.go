package command

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"benchbook/benchload/clients"
	"benchbook/benchload/dataset"
	"benchbook/benchload/event"
	"benchbook/benchload/operation"
)

// byClients loads by several processes. Whether the database is empty is asked
// once, before any of them begins.
func (l loading) byClients(ctx context.Context, given []string, count int, events *event.Writer, notes io.Writer) error {
	if failure := l.refuseData(); failure != nil {
		rows := dataset.Rows(newGenerator(l.kind, l.extent))
		events.Start(event.Start{Workload: l.workload, Target: l.target.Name(), Workers: count * l.options.Workers,
			Clients: count, BatchRows: l.batchRows, Rows: rows, Gzip: l.gzip, Program: "benchload " + Version})
		l.refused(events, failure, rows)
		return errReported
	}
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("the program's own path is not known: %w", err)
	}
	arguments := func(index int) []string {
		made := append([]string{"load"}, without(without(given, "clients"), "record-operations")...)
		if l.record != "" {
			made = append(made, "--record-operations", operation.Numbered(l.record, index))
		}
		return append(made, "--append", "--wait", "--client-index", strconv.Itoa(index), "--client-count", strconv.Itoa(count))
	}
	summary, ok, err := clients.Run(ctx, program, arguments, count, events, notes)
	switch {
	case err != nil:
		return err
	case events.Err() != nil:
		return fmt.Errorf("the events could not be written: %w", events.Err())
	case ctx.Err() != nil:
		return fmt.Errorf("the load was interrupted after %d rows", summary.Rows)
	case !ok:
		return errReported
	}
	return nil
}

// without takes a flag and its value out of arguments.
func without(arguments []string, name string) []string {
	var kept []string
	for i := 0; i < len(arguments); i++ {
		flag, _, joined := strings.Cut(strings.TrimLeft(arguments[i], "-"), "=")
		if strings.HasPrefix(arguments[i], "-") && flag == name {
			if !joined {
				i++
			}
			continue
		}
		kept = append(kept, arguments[i])
	}
	return kept
}

// waitForLine waits for a line of standard input.
func waitForLine(ctx context.Context) error {
	came := make(chan error, 1)
	go func() {
		_, err := bufio.NewReader(os.Stdin).ReadString('\n')
		came <- err
	}()
	select {
	case err := <-came:
		if err != nil {
			return errors.New("standard input ended before the line that --wait waits for; the load was not begun")
		}
		return nil
	case <-ctx.Done():
		return errors.New("the load was interrupted before it began")
	}
}
