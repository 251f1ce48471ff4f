package victoriametrics

import (
	"net"
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"time"

	"benchbook/benchload/target"
	"benchbook/benchload/target/double"
	"benchbook/benchload/target/wire"
)

func TestWritesNameTheDatabase(t *testing.T) {
	server := double.New(t, func(double.Request) (int, string) { return 204, "" })
	client, _ := New(server.Address, "x y", "", time.Second).Connect()
	defer client.Close()
	if err := client.Write(target.Batch{Rows: 1, Bytes: []byte("cpu a=1 1\n")}); err != nil {
		t.Fatal(err)
	}
	if got := server.Seen(0); got.Path != "/write" || got.Query != "db=x+y&precision=ns" || got.Header.Get("Authorization") != "" {
		t.Errorf("the write is %+v", got)
	}
}

func TestOtherAnswersAreNoEmptyDatabase(t *testing.T) {
	for _, body := range []string{"", "{}", `{"status":"error","errorType":"422","error":"cannot parse"}`, "<html>"} {
		server := double.New(t, func(double.Request) (int, string) { return 200, body })
		if _, err := New(server.Address, "x", "", time.Second).Holds(); err == nil {
			t.Errorf("%q is taken for an empty database", body)
		}
	}
}

// With the real server, where there is one: what was written is seen, and only
// in its own database.
func TestARealServerHoldsWhatWasWritten(t *testing.T) {
	program, err := exec.LookPath("victoria-metrics")
	if err != nil {
		t.Skip("victoria-metrics is not on PATH")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := listener.Addr().String()
	_ = listener.Close()
	server := exec.Command(program, "-httpListenAddr="+at, "-storageDataPath="+t.TempDir(), "-retentionPeriod=100y", "-loggerLevel=ERROR")
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Process.Kill(); _ = server.Wait() })
	within(t, "ready", func() bool {
		answer, err := http.Get("http://" + at + "/health")
		if err != nil {
			return false
		}
		_ = answer.Body.Close()
		return answer.StatusCode == 200
	})
	address, _ := wire.ParseAddress("http://" + at)
	tested := New(address, "one", "", 5*time.Second)
	if holds, err := tested.Holds(); holds || err != nil {
		t.Fatalf("an empty server holds data: %v, error %v", holds, err)
	}
	client, _ := tested.Connect()
	defer client.Close()
	if err := client.Write(target.Batch{Rows: 2, Bytes: []byte("cpu,h=a x=1 1451606400000000000\ncpu,h=b x=2 1451606400000000000\n")}); err != nil {
		t.Fatal(err)
	}
	within(t, "seen", func() bool {
		holds, err := tested.Holds()
		if err != nil && !strings.Contains(err.Error(), "timeout") {
			t.Fatal(err)
		}
		return holds
	})
	if holds, err := New(address, "two", "", 5*time.Second).Holds(); holds || err != nil {
		t.Errorf("another database holds data: %v, error %v", holds, err)
	}
}

// within waits until something is so.
func within(t *testing.T, what string, so func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !so(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("it is not %s after 20 seconds", what)
		}
	}
}

func FuzzHolds(f *testing.F) {
	f.Add(200, `{"status":"success","data":[{}]}`)
	f.Add(500, "")
	f.Fuzz(func(t *testing.T, status int, body string) {
		if held, err := holds(status, []byte(body)); held && (err != nil || status < 200 || status > 299) {
			t.Errorf("%d %q says that there is data, error %v", status, body, err)
		}
	})
}
