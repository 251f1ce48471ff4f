// Package seaweedfs keeps objects as SeaweedFS's own clients do: the master assigns a
// file id and a volume server, which is sent the bytes.
package seaweedfs

import (
	"encoding/json"
	"fmt"
	"time"

	"benchbook/benchload/object"
	"benchbook/benchload/target"
)

// Store is a master and its volume servers.
type Store struct {
	Master string // its address, such as http://127.0.0.1:9333
	Sync   bool   // have the volume server sync before it acknowledges
	Limit  time.Duration
}

// Name is the name of the kind of store.
func (s *Store) Name() string { return "seaweedfs" }

// Prepare does nothing: volumes grow when they are needed.
func (s *Store) Prepare() error { return nil }

// Client makes a client.
func (s *Store) Client() (object.Client, error) {
	return &client{store: s, HTTP: object.NewHTTP(s.Limit)}, nil
}

type client struct {
	*object.HTTP
	store  *Store
	answer []byte
}

// assigned is what the master answers.
type assigned struct {
	FID   string `json:"fid"`
	URL   string `json:"url"`
	Error string `json:"error"`
}

// Put asks the master for a place and puts the object there: two round trips an object.
func (c *client) Put(items []object.Item) error {
	for i := range items {
		if err := c.put(&items[i]); err != nil {
			return err
		}
	}
	return nil
}

func (c *client) put(item *object.Item) error {
	answer, err := c.Do("GET", c.store.Master+"/dir/assign", nil, c.answer, nil)
	if err != nil {
		return err
	}
	c.answer = answer
	var place assigned
	if err := json.Unmarshal(answer, &place); err != nil {
		return &target.Failure{Kind: target.BadAnswer, Message: "the master's answer is no JSON: " + err.Error()}
	}
	if place.Error != "" || place.FID == "" {
		return &target.Failure{Kind: target.Server, Message: "the master assigns no file id: " + place.Error}
	}
	name := fmt.Sprintf("http://%s/%s", place.URL, place.FID)
	url := name
	if c.store.Sync {
		url += "?fsync=true"
	}
	if c.answer, err = c.Do("PUT", url, item.Content, c.answer, nil); err != nil {
		return err
	}
	item.Name = name
	return nil
}

// Get reads from the volume server; where that is, is known since the put.
func (c *client) Get(item *object.Item, into []byte) ([]byte, error) {
	if item.Name == "" {
		return nil, object.ErrMissing
	}
	return c.Do("GET", item.Name, nil, into, nil)
}

// Delete marks the object as deleted on its volume server.
func (c *client) Delete(item *object.Item) (err error) {
	c.answer, err = c.Do("DELETE", item.Name, nil, c.answer, nil)
	return err
}
