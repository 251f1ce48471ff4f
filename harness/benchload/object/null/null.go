// Package null is a store of objects in the client's own process: it discards what is
// put and generates what is got. It shows how fast the client alone is.
package null

import (
	"benchbook/benchload/dataset/blob"
	"benchbook/benchload/object"
)

// Store is the store. It holds the objects of a set.
type Store struct{ Set *blob.Set }

// Name returns the name of the kind of store.
func (Store) Name() string { return "null" }

// Prepare does nothing.
func (Store) Prepare() error { return nil }

// Connect creates a client.
func (s Store) Connect() (object.Conn, error) { return client{s.Set}, nil }

// Held returns the objects of the set.
func (s Store) Held() []object.Entry {
	held := make([]object.Entry, s.Set.Count)
	for i := range held {
		held[i].Number = int64(i)
	}
	return held
}

type client struct{ set *blob.Set }

func (client) Put([]object.Item) error { return nil }

func (c client) Get(item *object.Item, into []byte) ([]byte, error) {
	return c.set.Object(into, item.Number), nil
}

func (client) Delete(*object.Item) error { return nil }

func (client) Interrupt() {}

func (client) Close() {}
