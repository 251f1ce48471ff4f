// Package object puts small objects into stores, gets them back and deletes them.
package object

import (
	"errors"

	"benchbook/benchload/system"
)

// Item is one object.
type Item struct {
	Number  int64  // in the dataset
	Key     string // of the dataset
	Name    string // from the store, if it gives names itself
	Content []byte
}

// ErrMissing means that the store has no such object.
var ErrMissing = errors.New("the store has no such object")

// Conn is one connection to a store.
type Conn interface {
	system.Conn
	// Put stores all items and waits until they are acknowledged: in one transaction, or
	// one after the other if the store has none over several objects. It sets their
	// names if the store gives names.
	Put(items []Item) error
	// Get reads one object, valid until the next operation; into is memory to use.
	Get(item *Item, into []byte) ([]byte, error)
	// Delete deletes one object and waits until that is acknowledged.
	Delete(item *Item) error
}

// Store is where objects are kept.
type Store interface {
	system.System[Conn]
	// Prepare creates the table or folder for the objects, if there is none.
	Prepare() error
}

// asFailure returns the failure in an error.
func asFailure(err error) *system.Failure {
	if errors.Is(err, ErrMissing) {
		return &system.Failure{Kind: system.BadAnswer, Message: err.Error()}
	}
	return system.AsFailure(err)
}
