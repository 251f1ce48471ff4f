package wire

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// scripted is a server that answers each request with the next of some texts;
// an empty one hangs up, and so does the end of the script.
func scripted(t *testing.T, answers ...string) Address {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			reader := bufio.NewReader(conn)
			for len(answers) > 0 {
				request, err := http.ReadRequest(reader)
				if err != nil {
					break
				}
				_, _ = io.Copy(io.Discard, request.Body)
				answer := answers[0]
				answers = answers[1:]
				if answer == "" {
					break
				}
				_, _ = io.WriteString(conn, answer)
			}
			_ = conn.Close()
		}
	}()
	return Address{Host: listener.Addr().String()}
}

func TestBodiesAreReadWhole(t *testing.T) {
	for _, c := range []struct{ name, answer, body string }{
		{"length", "HTTP/1.1 200 OK\r\ncontent-LENGTH: 5\r\n\r\nhello", "hello"},
		{"chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\nTrailer: 1\r\n\r\n", "hello"},
		{"until the end", "HTTP/1.0 200 OK\r\n\r\nhello", "hello"},
		{"nothing", "HTTP/1.1 204 No Content\r\n\r\n", ""},
		{"204 with a body", "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello", "hello"},
		{"after an interim answer", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "hello"},
		{"large", "HTTP/1.1 200 OK\r\nContent-Length: 200000\r\n\r\n" + strings.Repeat("x", 200000), strings.Repeat("x", 200000)},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn := NewConn(scripted(t, c.answer), 5*time.Second)
			defer conn.Close()
			response, err := conn.Do("POST", "/x", "", []byte("rows"))
			if err != nil || string(response.Body) != c.body {
				t.Errorf("the body has %d bytes, error %v", len(response.Body), err)
			}
		})
	}
}

func TestAnAnswerIsThereWithItsLastByte(t *testing.T) {
	heads := map[string]string{
		"length": "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", "until the end": "HTTP/1.0 200 OK\r\n\r\n",
	}
	for name, head := range heads {
		t.Run(name, func(t *testing.T) {
			const pause = 50 * time.Millisecond
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				conn, _, err := w.(http.Hijacker).Hijack()
				if err != nil {
					t.Error(err)
					return
				}
				_, _ = io.WriteString(conn, head)
				time.Sleep(pause)
				_, _ = io.WriteString(conn, "hello")
				_ = conn.Close()
			}))
			defer server.Close()
			address, err := ParseAddress(server.URL)
			if err != nil {
				t.Fatal(err)
			}
			conn := NewConn(address, 5*time.Second)
			defer conn.Close()
			began := time.Now()
			response, err := conn.Do("GET", "/", "", nil)
			if err != nil || response.Done.Sub(began) < pause {
				t.Errorf("the answer was there after %s, error %v; its body was sent after %s", response.Done.Sub(began), err, pause)
			}
		})
	}
}

func TestConnectionsAreKeptAndOpenedAgain(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
	const last = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok"
	// The third request meets a connection that was closed after the second
	// answer; the fourth one that was closed without a word.
	conn := NewConn(scripted(t, ok, last, ok, "", ok), 5*time.Second)
	defer conn.Close()
	for i := range 4 {
		response, err := conn.Do("GET", "/", "", nil)
		if err != nil || string(response.Body) != "ok" {
			t.Fatalf("request %d: body %q, error %v", i, response.Body, err)
		}
	}
}

func TestBrokenAnswersAreErrors(t *testing.T) {
	for name, answer := range map[string]string{
		"not HTTP":        "SSH-2.0-OpenSSH_9.0\r\n\r\n",
		"no status":       "HTTP/1.1 abc OK\r\n\r\n",
		"no colon":        "HTTP/1.1 200 OK\r\nnonsense\r\n\r\n",
		"negative length": "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
		"huge length":     "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999\r\n\r\n",
		"bad chunk":       "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			conn := NewConn(scripted(t, answer), 5*time.Second)
			defer conn.Close()
			if response, err := conn.Do("GET", "/", "", nil); err == nil {
				t.Errorf("it is taken for an answer: %+v", response)
			}
		})
	}
}

func TestAnAnswerThatEndsTooEarlyIsAnError(t *testing.T) {
	conn := NewConn(scripted(t, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello", ""), 200*time.Millisecond)
	defer conn.Close()
	if _, err := conn.Do("GET", "/", "", nil); err == nil {
		t.Error("half a body is taken for a whole one")
	}
}

func TestTimeoutsAreTold(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	conn := NewConn(Address{Host: listener.Addr().String()}, 30*time.Millisecond)
	defer conn.Close()
	if _, err := conn.Do("GET", "/", "", nil); !IsTimeout(err) {
		t.Errorf("the error is %v, want a timeout", err)
	}
}

func TestRefusedConnectionsAreTold(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = listener.Close()
	conn := NewConn(Address{Host: listener.Addr().String()}, time.Second)
	if _, err := conn.Do("GET", "/", "", nil); err == nil || IsTimeout(err) || errors.Is(err, ErrStale) {
		t.Errorf("the error is %v, want that the connection is refused", err)
	}
}

func TestAddresses(t *testing.T) {
	for text, want := range map[string]Address{
		"http://127.0.0.1:8086":     {Host: "127.0.0.1:8086"},
		"http://localhost/":         {Host: "localhost:80"},
		"https://example.org/db/":   {Host: "example.org:443", Path: "/db", TLS: true},
		"http://[::1]:8086/a%20b/c": {Host: "[::1]:8086", Path: "/a%20b/c"},
	} {
		if got, err := ParseAddress(text); err != nil || got != want {
			t.Errorf("%s is %+v, error %v", text, got, err)
		}
	}
	for _, text := range []string{"", "localhost:8086", "ftp://x", "http://", "http://x?db=y", "http://a:b@c", "http://x:\r\n"} {
		if got, err := ParseAddress(text); err == nil {
			t.Errorf("%q is %+v", text, got)
		}
	}
}

func FuzzReceive(f *testing.F) {
	f.Add("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
	f.Add("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n0\r\n\r\n")
	f.Add("HTTP/1.0 500 No\r\n\r\nwords")
	f.Fuzz(func(t *testing.T, text string) {
		c := &Conn{reader: bufio.NewReader(strings.NewReader(text))}
		response, _, err := c.receive("GET")
		if err == nil && len(response.Body) > len(text) {
			t.Errorf("a body of %d bytes came out of %d", len(response.Body), len(text))
		}
	})
}

func TestALengthThatIsOnlyAnnouncedCostsNoMemory(t *testing.T) {
	answer := "HTTP/1.1 200 OK\r\nContent-Length: 67108864\r\n\r\nhello"
	conn := NewConn(scripted(t, answer), 5*time.Second)
	defer conn.Close()
	if _, err := conn.Do("GET", "/", "", nil); err == nil {
		t.Error("five bytes are taken for 64 MiB")
	}
	if cap(conn.body) > 1<<20 {
		t.Errorf("the body has room for %d bytes", cap(conn.body))
	}
}

func TestAnAnswerThatNeverEndsIsRefusedAtALimit(t *testing.T) {
	for name, head := range map[string]string{
		"to the end": "\r\n",
		"length":     "Content-Length: 9000000000\r\n\r\n",
		"chunks":     "Transfer-Encoding: chunked\r\n\r\n",
		"huge chunk": "Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n7fffffffffffffff\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			part := strings.Repeat("x", 1<<16)
			if name == "chunks" {
				part = "10000\r\n" + part + "\r\n"
			}
			conn := NewConn(endless(t, "HTTP/1.1 200 OK\r\n"+head, part), 30*time.Second)
			conn.Most = 1 << 20
			defer conn.Close()
			_, err := conn.Do("GET", "/", "", nil)
			if err == nil || !strings.Contains(err.Error(), "the answer is larger than 1048576 bytes") {
				t.Errorf("the error is %v", err)
			}
			if cap(conn.body) > 4<<20 {
				t.Errorf("the body has room for %d bytes", cap(conn.body))
			}
		})
	}
}

func TestAServerThatDripsIsLeftAtTheTimeout(t *testing.T) {
	for name, head := range map[string]string{
		"status": "HTTP/1.1 20", "header": "HTTP/1.1 200 OK\r\nX: ", "body": "HTTP/1.1 200 OK\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			conn := NewConn(endless(t, head, ""), 100*time.Millisecond)
			defer conn.Close()
			if _, err := conn.Do("GET", "/", "", nil); !IsTimeout(err) {
				t.Errorf("the error is %v, want a timeout", err)
			}
		})
	}
}

// endless is a server that sends a text and then one part again and again, or a byte
// from time to time if there is none.
func endless(t *testing.T, head, part string) Address {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		_, err = io.WriteString(conn, head)
		for err == nil {
			if part == "" {
				time.Sleep(10 * time.Millisecond)
				_, err = io.WriteString(conn, "1")
			} else {
				_, err = io.WriteString(conn, part)
			}
		}
	}()
	return Address{Host: listener.Addr().String()}
}

// BenchmarkAnswer is what receiving an answer costs.
func BenchmarkAnswer(b *testing.B) {
	text := "HTTP/1.1 200 OK\r\nContent-Length: 2000\r\n\r\n" + strings.Repeat("x", 2000)
	source := strings.NewReader(text)
	c := &Conn{reader: bufio.NewReaderSize(source, 16<<10)}
	b.ReportAllocs()
	for b.Loop() {
		source.Reset(text)
		c.reader.Reset(source)
		if _, _, err := c.receive("GET"); err != nil {
			b.Fatal(err)
		}
	}
}
