package clients

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"

	"benchbook/benchload/event"
)

// maxLine is more than the longest event has.
const maxLine = 16 << 20

// client is one process.
type client struct {
	command *exec.Cmd
	input   io.WriteCloser
	output  *bufio.Scanner
}

// Run starts count processes of a program, lets them begin at the same moment,
// and writes their events as those of one load. arguments gives those of a
// client, which has to wait for a line of its standard input (--wait). ok tells
// if all of them ended well.
func Run(ctx context.Context, program string, arguments func(index int) []string, count int,
	events *event.Writer, notes io.Writer) (summary event.Summary, ok bool, err error) {
	if _, isFile := notes.(*os.File); !isFile {
		notes = &sharedWriter{out: notes}
	}
	m := newMerge(events, count)
	var all []*client
	stop := func() {
		for _, c := range all {
			_ = c.command.Process.Kill()
			_ = c.command.Wait()
		}
	}
	for i := range count {
		c, err := begin(ctx, program, arguments(i), notes)
		if err != nil {
			stop()
			return summary, false, fmt.Errorf("client %d could not be started: %w", i, err)
		}
		all = append(all, c)
	}
	// The barrier: all have prepared their load before any of them begins.
	for i, c := range all {
		if !c.output.Scan() {
			stop()
			return summary, false, fmt.Errorf("client %d ended before it began; see its message above", i)
		}
		if err := m.take(i, c.output.Bytes()); err != nil {
			stop()
			return summary, false, err
		}
	}
	m.start()
	for _, c := range all {
		// A client that died meanwhile is noticed at its end.
		_, _ = io.WriteString(c.input, "\n")
	}
	var lock sync.Mutex
	var reading sync.WaitGroup
	ok = true
	for i, c := range all {
		reading.Add(1)
		go func() {
			defer reading.Done()
			well, faults := c.follow(i, m, &lock)
			lock.Lock()
			defer lock.Unlock()
			ok = ok && well && faults == nil && m.clients[i].summary != nil
			if m.clients[i].summary == nil {
				m.failure(event.Error{Kind: "client", Message: "a client ended without a summary", Operations: 1,
					Rows: m.clients[i].start.Rows - m.clients[i].seen.Rows})
			}
			err = errors.Join(err, faults)
		}()
	}
	reading.Wait()
	return m.finish(), ok, err
}

// sharedWriter lets several processes write messages; files need no help.
type sharedWriter struct {
	lock sync.Mutex
	out  io.Writer
}

// Write writes one part of a message.
func (w *sharedWriter) Write(text []byte) (int, error) {
	w.lock.Lock()
	defer w.lock.Unlock()
	return w.out.Write(text)
}

// begin starts one process.
func begin(ctx context.Context, program string, arguments []string, notes io.Writer) (*client, error) {
	command := exec.CommandContext(ctx, program, arguments...)
	// It is interrupted as a user would do it, and must not outlive this process.
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	command.Stderr = notes
	input, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	output, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(output)
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	return &client{command, input, lines}, command.Start()
}

// follow takes the lines of a client until it ends, and tells if it ended well;
// if it did not, its events have told why.
func (c *client) follow(index int, m *merge, lock *sync.Mutex) (well bool, faults error) {
	for c.output.Scan() {
		lock.Lock()
		faults = errors.Join(faults, m.take(index, c.output.Bytes()))
		lock.Unlock()
	}
	ended := c.command.Wait()
	if code := new(exec.ExitError); !errors.As(ended, &code) {
		faults = errors.Join(faults, ended)
	}
	lock.Lock()
	defer lock.Unlock()
	return ended == nil, errors.Join(faults, c.output.Err(), m.end(index))
}
