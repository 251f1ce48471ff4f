package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"
)

// errNoAnswer means that the connection ended before the first byte of an answer.
var errNoAnswer = errors.New("no answer")

// framing is what the head of an answer states about its body.
type framing struct {
	status  int
	length  int64 // -1 if absent
	chunked bool
	keep    bool
}

// receive reads an answer and reports whether the connection can be kept.
func (c *Conn) receive(method string) (Response, bool, error) {
	for {
		head, err := c.readHead()
		if err != nil {
			return Response{}, false, err
		}
		if head.status < 200 {
			continue // an interim answer; the real one follows
		}
		c.body = c.body[:0]
		switch {
		case method == "HEAD" || head.status == 304:
		case head.chunked:
			err = c.readChunks()
		case head.length >= 0:
			err = c.readExactly(head.length)
		case head.status != 204:
			head.keep = false
			err = c.readToEnd()
		}
		if err != nil {
			return Response{}, false, fmt.Errorf("the answer ended too early: %w", err)
		}
		return Response{head.status, c.body, time.Now()}, head.keep, nil
	}
}

// readHead reads the status line and the headers.
func (c *Conn) readHead() (framing, error) {
	f := framing{length: -1}
	line, err := c.reader.ReadSlice('\n')
	if err != nil {
		if len(line) == 0 {
			return f, fmt.Errorf("%w: %w", errNoAnswer, err)
		}
		return f, err
	}
	line = bytes.TrimRight(line, "\r\n")
	if len(line) < 12 || !bytes.HasPrefix(line, []byte("HTTP/1.")) {
		return f, fmt.Errorf("the answer begins with %q, which is not HTTP/1", clip(line))
	}
	if f.status, err = strconv.Atoi(string(line[9:12])); err != nil || f.status < 100 {
		return f, fmt.Errorf("the answer begins with %q, which has no status", clip(line))
	}
	f.keep = line[7] == '1'
	for {
		line, err := c.reader.ReadSlice('\n')
		if err != nil {
			return f, err
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			return f, nil
		}
		name, value, ok := bytes.Cut(line, []byte(":"))
		if !ok {
			return f, fmt.Errorf("the answer has the header %q, which has no colon", clip(line))
		}
		if err := f.header(name, bytes.TrimSpace(value)); err != nil {
			return f, err
		}
	}
}

// header takes the relevant values from one header.
func (f *framing) header(name, value []byte) error {
	switch {
	case bytes.EqualFold(name, []byte("Content-Length")):
		n, err := strconv.ParseInt(string(value), 10, 64)
		if err != nil || n < 0 {
			return fmt.Errorf("the answer has the Content-Length %q", clip(value))
		}
		f.length = n
	case bytes.EqualFold(name, []byte("Transfer-Encoding")):
		f.chunked = bytes.EqualFold(value, []byte("chunked"))
	case bytes.EqualFold(name, []byte("Connection")):
		if bytes.EqualFold(value, []byte("close")) {
			f.keep = false
		} else if bytes.EqualFold(value, []byte("keep-alive")) {
			f.keep = true
		}
	}
	return nil
}

// most returns the size of the largest answer.
func (c *Conn) most() int64 {
	if c.Most > 0 {
		return c.Most
	}
	return maxBody
}

// tooLarge is the error of an answer that is larger than the largest.
func (c *Conn) tooLarge() error { return fmt.Errorf("the answer is larger than %d bytes", c.most()) }

// readExactly appends so many bytes to the body. The body grows with what arrives: what
// a server announces costs no memory.
func (c *Conn) readExactly(length int64) error {
	if length > c.most()-int64(len(c.body)) {
		return c.tooLarge()
	}
	for length > 0 {
		at := len(c.body)
		if at == cap(c.body) {
			c.body = append(c.body, 0)[:at]
		}
		free := int64(cap(c.body) - at)
		n, err := io.ReadFull(c.reader, c.body[at:int64(at)+min(free, length)])
		c.body = c.body[:at+n]
		if err != nil {
			return err
		}
		length -= int64(n)
	}
	return nil
}

// readChunks reads a body in chunks, and the trailers after it.
func (c *Conn) readChunks() error {
	for {
		line, err := c.reader.ReadSlice('\n')
		if err != nil {
			return err
		}
		size, _, _ := bytes.Cut(bytes.TrimRight(line, "\r\n"), []byte(";"))
		length, err := strconv.ParseInt(string(bytes.TrimSpace(size)), 16, 64)
		if err != nil || length < 0 {
			return fmt.Errorf("a chunk has the size %q", clip(line))
		}
		if length == 0 {
			break
		}
		if err := c.readExactly(length); err != nil {
			return err
		}
		if _, err := c.reader.Discard(2); err != nil {
			return err
		}
	}
	for {
		line, err := c.reader.ReadSlice('\n')
		if err != nil {
			return err
		}
		if len(bytes.TrimRight(line, "\r\n")) == 0 {
			return nil
		}
	}
}

// readToEnd reads until the server hangs up.
func (c *Conn) readToEnd() error {
	for {
		if len(c.body) == cap(c.body) {
			c.body = append(c.body, 0)[:len(c.body)]
		}
		n, err := c.reader.Read(c.body[len(c.body):cap(c.body)])
		c.body = c.body[:len(c.body)+n]
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if int64(len(c.body)) > c.most() {
			return c.tooLarge()
		}
	}
}

// clip shortens a text for a message.
func clip(text []byte) []byte { return text[:min(len(text), 80)] }
