// Package object puts small objects into stores, gets them back and deletes them, and says how long that took.
package object

import (
	"errors"

	"benchbook/benchload/target"
)

// Item is one object: its number in the dataset, its key, the name that the store
// gave it if it gives names itself, and its bytes.
type Item struct {
	Number  int64
	Key     string
	Name    string
	Content []byte
}

// ErrMissing says that the store has no such object.
var ErrMissing = errors.New("the store has no such object")

// Client is one connection to a store. It belongs to one goroutine.
type Client interface {
	// Put returns when all items are acknowledged: in one transaction, or one after
	// the other in a store that has none over several objects. It sets their names, if the store gives names.
	Put(items []Item) error
	// Get reads one object; into is memory to use.
	Get(item *Item, into []byte) ([]byte, error)
	// Delete returns when it is acknowledged that the object is gone.
	Delete(item *Item) error
	// Interrupt ends a waiting operation and all later ones; any goroutine may call it.
	Interrupt()
	// Close hangs up.
	Close()
}

// Store is where objects are kept.
type Store interface {
	// Name is the name of the kind of store.
	Name() string
	// Prepare makes the table or folder for the objects, if there is none.
	Prepare() error
	// Client makes a client; it connects at its first operation or before.
	Client() (Client, error)
}

// refused is a failure in the store's words.
func refused(err error) *target.Failure {
	if errors.Is(err, ErrMissing) {
		return &target.Failure{Kind: target.BadAnswer, Message: err.Error()}
	}
	return target.AsFailure(err)
}
