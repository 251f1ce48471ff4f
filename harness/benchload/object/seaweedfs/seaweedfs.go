// Package seaweedfs keeps objects as SeaweedFS's own clients do: the master assigns a
// file id and a volume server, which receives the bytes.
package seaweedfs

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"benchbook/benchload/object"
	"benchbook/benchload/system"
	"benchbook/benchload/target/wire"
)

// Store is a master and its volume servers.
type Store struct {
	master  wire.Address
	sync    bool // the volume server syncs before it acknowledges
	timeout time.Duration
	pause   time.Duration // before the master is asked again
}

// New creates the store whose master is at an address such as http://127.0.0.1:9333.
func New(url string, sync bool, timeout time.Duration) (*Store, error) {
	master, err := wire.ParseAddress(url)
	return &Store{master, sync, timeout, retryAfter}, err
}

// Name returns the name of the kind of store.
func (s *Store) Name() string { return "seaweedfs" }

// Prepare does nothing: volumes grow when they are needed.
func (s *Store) Prepare() error { return nil }

// Connect creates a client.
func (s *Store) Connect() (object.Conn, error) {
	c := &client{store: s, master: object.NewConnection(s.master, s.timeout), volumes: map[string]*object.Connection{}}
	c.going, c.interrupt = context.WithCancel(context.Background())
	return c, nil
}

// client has a connection to the master and one to each volume server that it uses.
type client struct {
	store  *Store
	master *object.Connection

	going     context.Context // until the first interrupt
	interrupt context.CancelFunc

	lock    sync.Mutex // of what follows: another goroutine may interrupt
	volumes map[string]*object.Connection
}

// assigned is what the master answers.
type assigned struct {
	FID   string `json:"fid"`
	URL   string `json:"url"`
	Error string `json:"error"`
}

// volume returns the connection to a volume server.
func (c *client) volume(host string) (*object.Connection, error) {
	c.lock.Lock()
	defer c.lock.Unlock()
	if known := c.volumes[host]; known != nil {
		return known, nil
	}
	address, err := wire.ParseAddress("http://" + host)
	if err != nil {
		return nil, &system.Failure{Kind: system.BadAnswer, Message: "the master names a volume server that is not one: " + err.Error()}
	}
	made := object.NewConnection(address, c.store.timeout)
	if c.going.Err() != nil {
		made.Interrupt()
	}
	c.volumes[host] = made
	return made, nil
}

// send sends a request about an object to its volume server.
func (c *client) send(method, name, options string, body []byte) ([]byte, error) {
	host, id, found := strings.Cut(strings.TrimPrefix(name, "http://"), "/")
	if !found {
		return nil, object.ErrMissing // it was never put
	}
	volume, err := c.volume(host)
	if err != nil {
		return nil, err
	}
	return volume.Send(method, "/"+id+options, "", body)
}

// Put asks the master for a place and puts the object there: two round trips per object.
func (c *client) Put(items []object.Item) error {
	options := ""
	if c.store.sync {
		options = "?fsync=true"
	}
	for i := range items {
		answer, err := c.assign()
		if err != nil {
			return err
		}
		var place assigned
		if err := json.Unmarshal(answer, &place); err != nil {
			return &system.Failure{Kind: system.BadAnswer, Message: "the master's answer is not JSON: " + err.Error()}
		}
		if place.Error != "" || place.FID == "" {
			return &system.Failure{Kind: system.Server, Message: "the master assigns no file id: " + place.Error}
		}
		name := "http://" + place.URL + "/" + place.FID
		if _, err := c.send("PUT", name, options, items[i].Content); err != nil {
			return err
		}
		items[i].Name = name
	}
	return nil
}

// The master answers 503 while it adds volumes, with the header Retry-After: 1. SeaweedFS's own
// client then asks again, for 30 seconds.
const (
	retryAfter  = time.Second
	assignTries = 30
)

// assign asks the master for a place. The wait for a new volume is part of the put.
func (c *client) assign() ([]byte, error) {
	for try := 1; ; try++ {
		answer, err := c.master.Send("GET", "/dir/assign", "", nil)
		var failure *system.Failure
		if !errors.As(err, &failure) || failure.Status != http.StatusServiceUnavailable || try == assignTries {
			return answer, err
		}
		select {
		case <-time.After(c.store.pause):
		case <-c.going.Done():
			return nil, err
		}
	}
}

// Get reads from the volume server that the put used.
func (c *client) Get(item *object.Item, _ []byte) ([]byte, error) {
	return c.send("GET", item.Name, "", nil)
}

// Delete marks the object as deleted on its volume server.
func (c *client) Delete(item *object.Item) error {
	_, err := c.send("DELETE", item.Name, "", nil)
	return err
}

// Interrupt ends a waiting operation and all later ones.
func (c *client) Interrupt() {
	c.master.Interrupt()
	c.lock.Lock()
	defer c.lock.Unlock()
	c.interrupt()
	for _, volume := range c.volumes {
		volume.Interrupt()
	}
}

// Close closes the connection.
func (c *client) Close() {
	c.master.Close()
	c.lock.Lock()
	defer c.lock.Unlock()
	for _, volume := range c.volumes {
		volume.Close()
	}
}
