package wire

import (
	"bufio"
	"errors"
	"net"
	"strconv"
	"sync"
	"time"
)

// maxBody is the largest answer that is read unless a connection allows more; larger
// ones are an error. The longest answers, lists of all readings of a fleet, have some MB,
// and each worker keeps one.
const maxBody = 64 << 20

// Conn is one kept connection to a server. It belongs to one goroutine.
type Conn struct {
	address Address
	timeout time.Duration
	raw     net.Conn
	reader  *bufio.Reader
	head    []byte
	body    []byte
	used    bool // an answer came over the present connection already
	resent  int64

	// Most is the size of the largest answer; 0 means 64 MiB.
	Most int64

	// lock guards what Interrupt needs from another goroutine.
	lock        sync.Mutex
	waiting     net.Conn
	interrupted bool
}

// NewConn prepares a connection; it is opened by the first request.
func NewConn(address Address, timeout time.Duration) *Conn {
	return &Conn{address: address, timeout: timeout}
}

// Response is an answer, read whole. It is valid until the next request.
type Response struct {
	Status int
	Body   []byte
	Done   time.Time // when the last byte was read
}

// ErrStale is a kept connection that the server had closed in the meantime: the
// request was not answered and may be sent again at once.
var ErrStale = errors.New("the server closed the kept connection")

// Do sends a request and reads the answer. headers are whole lines.
func (c *Conn) Do(method, path, headers string, body []byte) (Response, error) {
	response, err := c.attempt(method, path, headers, body)
	if errors.Is(err, ErrStale) {
		c.resent++
		response, err = c.attempt(method, path, headers, body)
	}
	return response, err
}

// Resent returns how many requests were sent again since it was called last.
func (c *Conn) Resent() (requests int64) {
	requests, c.resent = c.resent, 0
	return requests
}

func (c *Conn) attempt(method, path, headers string, body []byte) (Response, error) {
	if c.raw == nil {
		if err := c.open(); err != nil {
			return Response{}, err
		}
	}
	reused := c.used
	if err := c.raw.SetDeadline(time.Now().Add(c.timeout)); err != nil {
		c.Close()
		return Response{}, err
	}
	sendErr := c.send(method, path, headers, body)
	if sendErr != nil && isTimeout(sendErr) {
		c.Close()
		return Response{}, sendErr
	}
	// A server may refuse a body before it has read all of it, and close the connection:
	// its message is worth more than the failure to send.
	response, keep, err := c.receive(method)
	if err != nil {
		fresh := c.reader.Buffered() == 0 && errors.Is(err, errNoAnswer)
		c.Close()
		if reused && fresh && !isTimeout(err) {
			return Response{}, ErrStale
		}
		if sendErr != nil {
			err = sendErr
		}
		return Response{}, err
	}
	c.used = true
	if !keep || sendErr != nil {
		c.Close()
	}
	return response, nil
}

// errInterrupted is how requests end after Interrupt.
var errInterrupted = errors.New("the client was interrupted")

// Interrupt ends a waiting request and all later ones; any goroutine may call it.
func (c *Conn) Interrupt() {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.interrupted = true
	if c.waiting != nil {
		_ = c.waiting.Close()
	}
}

// open connects.
func (c *Conn) open() error {
	raw, err := c.address.dial(c.timeout)
	if err != nil {
		return err
	}
	c.lock.Lock()
	c.waiting = raw
	stopped := c.interrupted
	c.lock.Unlock()
	if stopped {
		_ = raw.Close()
		return errInterrupted
	}
	c.raw, c.used = raw, false
	if c.reader == nil {
		c.reader = bufio.NewReaderSize(raw, 16<<10)
	} else {
		c.reader.Reset(raw)
	}
	return nil
}

// send writes head and body with one system call.
func (c *Conn) send(method, path, headers string, body []byte) error {
	h := append(c.head[:0], method...)
	h = append(h, ' ')
	h = append(h, c.address.Path...)
	h = append(h, path...)
	h = append(h, " HTTP/1.1\r\nHost: "...)
	h = append(h, c.address.Host...)
	h = append(h, "\r\nUser-Agent: benchload\r\n"...)
	h = append(h, headers...)
	if body != nil {
		h = append(h, "Content-Length: "...)
		h = strconv.AppendInt(h, int64(len(body)), 10)
		h = append(h, "\r\n"...)
	}
	h = append(h, "\r\n"...)
	c.head = h
	if len(body) == 0 {
		_, err := c.raw.Write(h)
		return err
	}
	parts := net.Buffers{h, body}
	_, err := parts.WriteTo(c.raw)
	return err
}

// Close closes the connection; the next request opens it again.
func (c *Conn) Close() {
	if c.raw != nil {
		_ = c.raw.Close()
		c.raw = nil
		c.lock.Lock()
		c.waiting = nil
		c.lock.Unlock()
	}
}

// isTimeout reports whether an error is a timeout.
func isTimeout(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}

// IsTimeout reports whether an error of Do is a timeout.
func IsTimeout(err error) bool { return isTimeout(err) }
