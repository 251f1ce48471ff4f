package command_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"sync"

	"benchbook/benchload/command"
	"benchbook/benchload/drive"
	"benchbook/benchload/event"
	"benchbook/benchload/measure"
	"benchbook/benchload/system"
)

// store is a system as the workload sees it: its connections have the verb Set.
type store interface {
	system.System[conn]
}

type conn interface {
	system.Conn
	Set(key int64) error
}

// stores is the registry of the workload; a new client adds an entry.
var stores = system.Kinds[system.Place, store]{
	{Name: "map", Open: func(system.Place) (store, error) { return &memory{held: map[int64]bool{}}, nil }},
	{Name: "remote", Example: "http://127.0.0.1:80", Open: func(system.Place) (store, error) { return &memory{}, nil }},
}

// memory is a store in the client itself.
type memory struct {
	lock sync.Mutex
	held map[int64]bool
}

func (*memory) Name() string             { return "map" }
func (m *memory) Connect() (conn, error) { return m, nil }
func (*memory) Interrupt()               {}
func (*memory) Close()                   {}

func (m *memory) Set(key int64) error {
	m.lock.Lock()
	defer m.lock.Unlock()
	if m.held[key] {
		return &system.Failure{Kind: system.Refused, Message: "the key exists"}
	}
	m.held[key] = true
	return nil
}

// setter sets one key after the other over a connection.
type setter struct {
	conn
	keys, key int64
}

func (s *setter) Next(number int64) bool { s.key = number % s.keys; return true }
func (s *setter) Do() (drive.Result, error) {
	return drive.Result{Counts: measure.Counts{Rows: 1}}, s.Set(s.key)
}
func (*setter) Ended(*system.Failure) {}

// setCommand is a command that measures.
type setCommand struct {
	Target storeName `required:"" placeholder:"KIND" help:"The kind of store: ${names}."`
	command.Place
	command.Pace
	Keys int64 `default:"1000" range:"1:" placeholder:"N" help:"How many keys. Default: ${default}."`
}

// storeName is a flag that must be a name of the registry.
type storeName string

func (storeName) Names() []string { return stores.Names() }

// Run sets all keys once, or again and again with --duration.
func (s *setCommand) Run(c *command.Console) error {
	tested, err := command.Open(stores, string(s.Target), s.Place.Place(""))
	if err != nil {
		return err
	}
	operations := s.Keys
	if s.Duration > 0 {
		operations = 0
	}
	pace, err := s.Loop(operations, 1)
	if err != nil {
		return err
	}
	w, err := s.Workload(c, event.Start{Workload: "set", Target: tested.Name(), Operations: operations})
	if err != nil {
		return err
	}
	defer w.Close()
	w.Begin()
	summary, ended, err := w.Run(&drive.Work{
		Client: drive.Clients(tested, func(over conn, _ int) drive.Client { return &setter{conn: over, keys: s.Keys} }),
		Pace:   pace,
	}, "set")
	if err != nil {
		return err
	}
	return w.Finish(summary, ended || summary.Errors > 0)
}

// A client of an experiment: its main function is setter.Main().
func Example() {
	setter := command.Program{
		Name: "setter", Version: "1", Description: "Sets keys and measures.",
		Commands: struct {
			Set setCommand `cmd:"" help:"Set keys."`
		}{},
	}
	for _, arguments := range []string{"set --target map --keys 500 --workers 4", "set --target mop", "set --target remote"} {
		var events bytes.Buffer
		code := setter.Run(context.Background(), strings.Fields(arguments), &events, os.Stdout)
		lines := strings.Split(strings.TrimSpace(events.String()), "\n")
		fmt.Println(code, strings.Contains(lines[len(lines)-1], `"operations":500,"rows":500`))
	}
	// Output:
	// 0 true
	// setter: --target: found "mop"; allowed are map, remote; did you mean "map"? See setter set --help.
	// 2 false
	// setter: --target remote needs --url; add the address of the server, such as --url http://127.0.0.1:80.
	// 2 false
}
