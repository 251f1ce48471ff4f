package questdb

import (
	"strings"
	"testing"
	"time"

	"benchbook/benchload/system"
	"benchbook/benchload/target"
	"benchbook/benchload/target/double"
)

func TestWritesAreInNanoseconds(t *testing.T) {
	server := double.New(t, func(double.Request) (int, string) { return 204, "" })
	client, _ := New(server.Address, "admin:quest", time.Second).Connect()
	defer client.Close()
	if err := client.Write(target.Batch{Rows: 1, Bytes: []byte("cpu a=1 1\n"), Gzip: true}); err != nil {
		t.Fatal(err)
	}
	got := server.Seen(0)
	if got.Path != "/write" || got.Query != "precision=n" || got.User != "admin:quest" || got.Header.Get("Content-Encoding") != "gzip" {
		t.Errorf("the write is %+v", got)
	}
}

func TestARefusedBatchIsNotLoaded(t *testing.T) {
	server := double.New(t, func(double.Request) (int, string) {
		return 400, `{"code":"invalid","message":"failed to parse line protocol: errors encountered on line(s)","line":2,"errorId":"x"}`
	})
	client, _ := New(server.Address, "", time.Second).Connect()
	defer client.Close()
	failure := system.AsFailure(client.Write(target.Batch{Rows: 5, Bytes: []byte("x")}))
	if failure == nil || failure.Kind != system.Refused || failure.Refused != 5 || !strings.HasPrefix(failure.Message, "failed to parse") {
		t.Errorf("the failure is %+v", failure)
	}
}

func TestHoldsCountsTables(t *testing.T) {
	for body, want := range map[string]bool{
		`{"query":"x","columns":[{"name":"count","type":"LONG"}],"dataset":[[0]],"count":1}`: false,
		`{"query":"x","columns":[{"name":"count","type":"LONG"}],"dataset":[[2]],"count":1}`: true,
	} {
		server := double.New(t, func(double.Request) (int, string) { return 200, body })
		if holds, err := New(server.Address, "", time.Second).Holds(); holds != want || err != nil {
			t.Errorf("with %s it holds data: %v, error %v", body, holds, err)
		}
	}
	for _, body := range []string{`{}`, `<html>`, `{"query":"x","error":"table does not exist","position":1}`} {
		server := double.New(t, func(double.Request) (int, string) { return 200, body })
		if _, err := New(server.Address, "", time.Second).Holds(); err == nil {
			t.Errorf("%s is taken for an empty server", body)
		}
	}
}

func FuzzHolds(f *testing.F) {
	f.Add(200, `{"dataset":[[2]]}`)
	f.Add(500, "")
	f.Fuzz(func(t *testing.T, status int, body string) {
		if held, err := holds(status, []byte(body)); held && (err != nil || status < 200 || status > 299) {
			t.Errorf("%d %q says that there is data, error %v", status, body, err)
		}
	})
}
