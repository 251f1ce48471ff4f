package mysql

import (
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"benchbook/benchload/system"
	"benchbook/experiments/kline-mysql-vs-kv/client/bars"
)

// TestAServerThatDripsIsLeftAtTheTimeout asks a server whose bytes each come in time.
func TestAServerThatDripsIsLeftAtTheTimeout(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				_, err := io.WriteString(conn, "\x4a\x00\x00\x00\x0a8.4")
				for err == nil {
					time.Sleep(20 * time.Millisecond)
					_, err = io.WriteString(conn, "1")
				}
			}()
		}
	}()
	store := New(listener.Addr().String(), "db", "root", "", 200*time.Millisecond, 1)
	client, err := store.Connect()
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for name, err := range map[string]error{
		"read":    client.Read(&bars.Request{}, true, &bars.Answer{}),
		"write":   client.Write([]bars.Bar{{}}),
		"prepare": store.Prepare(),
	} {
		var failure *system.Failure
		if !errors.As(err, &failure) || failure.Kind != system.Timeout {
			t.Errorf("%s: the error is %v, want a timeout", name, err)
		}
	}
}
