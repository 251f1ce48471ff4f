package nullserver

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/klauspost/compress/gzip"
)

// write counts the lines of a body.
func (s *session) write(r request, body io.Reader) error {
	if r.zipped && s.server.Sealed {
		return s.sealed(body)
	}
	if r.zipped {
		if s.unpacker == nil {
			s.unpacker = new(gzip.Reader)
		}
		if err := s.unpacker.Reset(body); err != nil {
			return fmt.Errorf("the body is not gzip: %w", err)
		}
		body = s.unpacker
	}
	rows, size, last := int64(0), int64(0), byte('\n')
	for {
		n, err := body.Read(s.buffer[:])
		if n > 0 {
			rows += int64(bytes.Count(s.buffer[:n], []byte{'\n'}))
			size += int64(n)
			last = s.buffer[n-1]
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("the body could not be read: %w", err)
		}
	}
	if last != '\n' {
		rows++
	}
	s.server.writes.Add(1)
	s.server.rows.Add(rows)
	s.server.bytes.Add(size)
	return nil
}

// sealed counts a body as it is.
func (s *session) sealed(body io.Reader) error {
	size, err := io.CopyBuffer(io.Discard, body, s.buffer[:])
	if err != nil {
		return fmt.Errorf("the body could not be read: %w", err)
	}
	s.server.writes.Add(1)
	s.server.bytes.Add(size)
	return nil
}

// chunks reads a body in chunks.
type chunks struct {
	reader *bufio.Reader
	left   int64 // of the present chunk
	begun  bool
	ended  bool
}

// Read reads of one chunk at most.
func (c *chunks) Read(to []byte) (int, error) {
	if c.ended {
		return 0, io.EOF
	}
	if c.left == 0 {
		if err := c.next(); err != nil {
			return 0, err
		}
	}
	n, err := c.reader.Read(to[:min(int64(len(to)), c.left)])
	c.left -= int64(n)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// next reads the size of a chunk; at the last one, what follows it.
func (c *chunks) next() error {
	if c.begun {
		if _, err := c.reader.Discard(2); err != nil {
			return io.ErrUnexpectedEOF
		}
	}
	c.begun = true
	line, err := c.reader.ReadSlice('\n')
	if err != nil {
		return io.ErrUnexpectedEOF
	}
	size, _, _ := bytes.Cut(bytes.TrimRight(line, "\r\n"), []byte(";"))
	if c.left, err = strconv.ParseInt(string(bytes.TrimSpace(size)), 16, 64); err != nil || c.left < 0 {
		return fmt.Errorf("a chunk has the size %q", size)
	}
	if c.left > 0 {
		return nil
	}
	for len(bytes.TrimRight(line, "\r\n")) > 0 {
		if line, err = c.reader.ReadSlice('\n'); err != nil {
			return io.ErrUnexpectedEOF
		}
	}
	c.ended = true
	return io.EOF
}
