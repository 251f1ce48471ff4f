package nullserver

import (
	"io"
	"net"
	"testing"
	"time"
)

// Whatever a client sends, the server answers or hangs up; it neither waits for
// ever nor fails.
func FuzzSession(f *testing.F) {
	f.Add("POST /write HTTP/1.1\r\nContent-Length: 8\r\n\r\na x=1 1\n")
	f.Add("POST /write HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Encoding: gzip\r\n\r\n3\r\nabc\r\n0\r\n\r\n")
	f.Add("GET /query?q=SHOW%20DATABASES HTTP/1.0\r\nExpect: 100-continue\r\n\r\n")
	f.Add("GET /count HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		near, far := net.Pipe()
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			newSession(New(), far).serve()
			_ = far.Close()
		}()
		go func() {
			_, _ = io.WriteString(near, text)
			_ = near.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
			_, _ = io.Copy(io.Discard, near)
			_ = near.Close()
		}()
		// A server that answers before it has read all would block a pipe, which has no
		// buffer; a reader takes what it says meanwhile.
		go func() { _, _ = io.Copy(io.Discard, near) }()
		select {
		case <-ended:
		case <-time.After(10 * time.Second):
			t.Fatal("the session does not end")
		}
	})
}
