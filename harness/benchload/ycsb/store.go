package ycsb

import (
	"strings"

	"benchbook/benchload/postgres"
	"benchbook/benchload/system"
)

// Conn is one connection to a store of records.
type Conn interface {
	system.Conn
	// Insert adds a record.
	Insert(record *Record) error
	// Read appends the record of a key with all fields; none if there is none.
	Read(key string, into []Record) ([]Record, error)
	// Update writes one field of a record.
	Update(key string, field int, value []byte) error
	// Scan appends the records from a key on, in the order of keys.
	Scan(from string, count int, into []Record) ([]Record, error)
}

// Store is where records are kept.
type Store interface {
	system.System[Conn]
	// Prepare creates the table; a failure if there is one.
	Prepare() error
}

// place is where a store is, and what its records are like.
type place struct {
	system.Place
	fields, size int
}

// stores are the kinds of stores; a new client adds an entry.
var stores = system.Kinds[place, Store]{
	{Name: "null", Open: func(p place) (Store, error) { return null{p}, nil }},
	{Name: "postgresql", Example: postgres.Example, Open: newSQL},
	{Name: "redis", Example: "redis://127.0.0.1:6379", Open: func(p place) (Store, error) {
		return newHashes(strings.TrimSuffix(strings.TrimPrefix(p.URL, "redis://"), "/"), p), nil
	}},
}

// target is the name of a kind of store.
type target string

// Names returns the allowed ones.
func (target) Names() []string { return stores.Names() }

// null keeps nothing, and generates what is read: the client alone.
type null struct{ place place }

func (null) Name() string             { return "null" }
func (null) Prepare() error           { return nil }
func (n null) Connect() (Conn, error) { return n, nil }
func (null) Interrupt()               {}
func (null) Close()                   {}

func (null) Insert(*Record) error             { return nil }
func (null) Update(string, int, []byte) error { return nil }

func (n null) Read(key string, into []Record) ([]Record, error) {
	record := Record{Key: key}
	record.fill(n.place.fields, n.place.size, 0)
	return append(into, record), nil
}

// Scan returns the first record only: which keys follow is unknown.
func (n null) Scan(from string, _ int, into []Record) ([]Record, error) { return n.Read(from, into) }
