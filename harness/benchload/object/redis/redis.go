// Package redis keeps objects as values of a server that speaks the Redis protocol.
package redis

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"benchbook/benchload/dataset/blob"
	"benchbook/benchload/object"
	"benchbook/benchload/system"
)

// Store is a server.
type Store struct {
	Address string // HOST:PORT
	Limit   time.Duration
}

// New creates the store of an address such as redis://127.0.0.1:6379.
func New(url string, limit time.Duration) (*Store, error) {
	address, found := strings.CutPrefix(url, "redis://")
	if !found || address == "" {
		return nil, fmt.Errorf("%q does not begin with redis://", url)
	}
	return &Store{strings.TrimSuffix(address, "/"), limit}, nil
}

// Name returns the name of the kind of store.
func (s *Store) Name() string { return "redis" }

// Prepare does nothing.
func (s *Store) Prepare() error { return nil }

// Connect opens a connection.
func (s *Store) Connect() (object.Conn, error) {
	conn, err := net.DialTimeout("tcp", s.Address, s.Limit)
	if err != nil {
		return nil, err
	}
	return &client{conn: conn, limit: s.Limit, in: bufio.NewReaderSize(conn, 64<<10), out: bufio.NewWriterSize(conn, 64<<10)}, nil
}

type client struct {
	conn  net.Conn
	limit time.Duration
	in    *bufio.Reader
	out   *bufio.Writer
}

// Put sets one value, or several in a transaction (MULTI … EXEC) sent at once.
func (c *client) Put(items []object.Item) error {
	if len(items) == 1 {
		c.command("SET", items[0].Key, items[0].Content)
		_, err := c.answers(1, nil)
		return err
	}
	c.command("MULTI", "", nil)
	for i := range items {
		c.command("SET", items[i].Key, items[i].Content)
	}
	c.command("EXEC", "", nil)
	// MULTI and each SET say OK or QUEUED; EXEC answers a list of their answers.
	_, err := c.answers(len(items)+2, nil)
	return err
}

// Get gets a value.
func (c *client) Get(item *object.Item, into []byte) ([]byte, error) {
	c.command("GET", item.Key, nil)
	return c.answers(1, into)
}

// Delete deletes a key.
func (c *client) Delete(item *object.Item) error {
	c.command("DEL", item.Key, nil)
	_, err := c.answers(1, nil)
	return err
}

// command writes a command into the buffer; a key or value that is absent is left out.
func (c *client) command(name, key string, value []byte) {
	words := 1
	if key != "" {
		words++
	}
	if value != nil {
		words++
	}
	_, _ = fmt.Fprintf(c.out, "*%d\r\n$%d\r\n%s\r\n", words, len(name), name)
	if key != "" {
		_, _ = fmt.Fprintf(c.out, "$%d\r\n%s\r\n", len(key), key)
	}
	if value != nil {
		_, _ = fmt.Fprintf(c.out, "$%d\r\n", len(value))
		_, _ = c.out.Write(value)
		_, _ = c.out.WriteString("\r\n")
	}
}

// answers sends what is in the buffer and reads so many answers; it gives the last one.
func (c *client) answers(count int, into []byte) (last []byte, err error) {
	_ = c.conn.SetDeadline(time.Now().Add(c.limit))
	if err := c.out.Flush(); err != nil {
		return nil, c.failure(err)
	}
	var first error
	for range count {
		if last, err = c.answer(into, 0); err != nil && first == nil {
			first = err
		}
		if failure := (*system.Failure)(nil); errors.As(err, &failure) && failure.Kind != system.Refused {
			return nil, err // the connection is unusable
		}
	}
	return last, first
}

// maxDepth is how deep lists are nested at most; the answer of a transaction has one list.
const maxDepth = 4

// answer reads one answer; of a list the last member.
func (c *client) answer(into []byte, depth int) ([]byte, error) {
	got, err := c.in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) || depth > maxDepth {
		return nil, notRedis()
	}
	if err != nil {
		return nil, c.failure(err)
	}
	line := strings.TrimRight(string(got), "\r\n")
	if line == "" {
		return nil, &system.Failure{Kind: system.Connection, Message: "the server sent an empty line"}
	}
	rest := line[1:]
	switch line[0] {
	case '+':
		return into, nil
	case ':':
		if rest == "0" {
			return nil, object.ErrMissing
		}
		return into, nil
	case '-':
		return nil, &system.Failure{Kind: system.Refused, Message: rest}
	}
	size, err := strconv.Atoi(rest)
	switch {
	case err != nil || line[0] != '$' && line[0] != '*' || size > blob.MaxSize:
		return nil, notRedis()
	case size < 0:
		return nil, object.ErrMissing
	case line[0] == '*':
		for range size {
			if into, err = c.answer(into, depth+1); err != nil {
				return nil, err
			}
		}
		return into, nil
	}
	// The value grows with what arrives: what a server announces costs no memory.
	into = into[:0]
	for len(into) < size+2 {
		at := len(into)
		if at == cap(into) {
			into = append(into, 0)[:at]
		}
		n, err := io.ReadFull(c.in, into[at:min(cap(into), size+2)])
		into = into[:at+n]
		if err != nil {
			return nil, c.failure(err)
		}
	}
	return into[:size], nil
}

func notRedis() error {
	return &system.Failure{Kind: system.Connection, Message: "the server does not speak the Redis protocol"}
}

func (c *client) failure(err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return &system.Failure{Kind: system.Timeout, Message: "no answer within " + c.limit.String()}
	}
	return &system.Failure{Kind: system.Connection, Message: err.Error()}
}

// Interrupt ends a waiting operation.
func (c *client) Interrupt() { _ = c.conn.Close() }

// Close closes the connection.
func (c *client) Close() { _ = c.conn.Close() }
