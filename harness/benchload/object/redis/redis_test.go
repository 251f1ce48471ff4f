package redis

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"benchbook/benchload/object"
)

// answering is a client of a server that sends a text, and then a part again and again.
func answering(t *testing.T, text, part string) object.Conn {
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
		_, err = io.WriteString(conn, text)
		for err == nil && part != "" {
			_, err = io.WriteString(conn, part)
		}
		_, _ = io.Copy(io.Discard, conn)
	}()
	store, err := New("redis://"+listener.Addr().String(), 500*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	made, err := store.Connect()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(made.Close)
	return made
}

func TestAValueIsReadWhole(t *testing.T) {
	value := strings.Repeat("x", 100_000)
	got, err := answering(t, "$100000\r\n"+value+"\r\n", "").Get(&object.Item{Key: "a"}, make([]byte, 0, 10))
	if err != nil || string(got) != value {
		t.Errorf("%d bytes and the error %v", len(got), err)
	}
}

func TestAnswersWithoutEndOrOfAnyLengthAreRefused(t *testing.T) {
	for name, answer := range map[string][2]string{
		"an announced length":  {"$1073741824\r\nabc", ""},
		"a length beyond all":  {"$9223372036854775807\r\n", ""},
		"a line without end":   {"+", strings.Repeat("x", 1<<16)},
		"lists in lists":       {"", "*1\r\n"},
		"a list without end":   {"*2000000000\r\n", ""},
		"a number as a length": {"$abc\r\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := answering(t, answer[0], answer[1]).Get(&object.Item{Key: "a"}, nil); err == nil {
				t.Errorf("it is taken for an answer of %d bytes", len(got))
			}
		})
	}
}
