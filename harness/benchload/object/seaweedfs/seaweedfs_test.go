package seaweedfs

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"benchbook/benchload/object"
)

// busy answers 503 to the first requests for a file id, as a master that adds volumes does.
func busy(t *testing.T, refusals int64) (*Store, *atomic.Int64) {
	t.Helper()
	asked := new(atomic.Int64)
	var server *httptest.Server
	server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path != "/dir/assign":
			w.WriteHeader(http.StatusCreated)
		case asked.Add(1) <= refusals:
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprint(w, `{"error":"no writable volumes, volume growth in progress"}`)
		default:
			fmt.Fprintf(w, `{"fid":"3,01637037d6","url":%q}`, strings.TrimPrefix(server.URL, "http://"))
		}
	}))
	t.Cleanup(server.Close)
	store, err := New(server.URL, false, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	store.pause = time.Millisecond
	return store, asked
}

func put(t *testing.T, store *Store) (object.Conn, error) {
	t.Helper()
	client, err := store.Connect()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client, client.Put([]object.Item{{Key: "a", Content: []byte("content")}})
}

func TestAPutWaitsUntilTheMasterHasAddedVolumes(t *testing.T) {
	store, asked := busy(t, 3)
	if _, err := put(t, store); err != nil || asked.Load() != 4 {
		t.Errorf("the put ended with %v after %d requests", err, asked.Load())
	}
}

func TestAMasterThatNeverHasAVolumeFailsThePut(t *testing.T) {
	store, asked := busy(t, 1000)
	if _, err := put(t, store); err == nil || !strings.Contains(err.Error(), "growth in progress") || asked.Load() != assignTries {
		t.Errorf("the put ended with %v after %d requests", err, asked.Load())
	}
}

func TestAnInterruptEndsTheWaitForVolumes(t *testing.T) {
	store, asked := busy(t, 1000)
	store.pause = time.Hour
	client, err := store.Connect()
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ended := make(chan error)
	go func() { ended <- client.Put([]object.Item{{Key: "a", Content: []byte("content")}}) }()
	for asked.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	client.Interrupt()
	client.Interrupt()
	if err := <-ended; err == nil {
		t.Error("an interrupted put succeeded")
	}
}
