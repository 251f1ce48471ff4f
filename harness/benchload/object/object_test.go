package object_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"benchbook/benchload/dataset/blob"
	"benchbook/benchload/drive"
	"benchbook/benchload/event"
	"benchbook/benchload/object"
	"benchbook/benchload/object/files"
)

// memory is a store that keeps objects in a map and can be made to lie.
type memory struct {
	lock  sync.Mutex
	held  map[string][]byte
	spoil string // the key whose bytes are changed
	short string // the key of which only the beginning is returned
}

func (m *memory) Name() string                  { return "memory" }
func (m *memory) Prepare() error                { return nil }
func (m *memory) Connect() (object.Conn, error) { return m, nil }
func (m *memory) Interrupt()                    {}
func (m *memory) Close()                        {}

func (m *memory) Put(items []object.Item) error {
	m.lock.Lock()
	defer m.lock.Unlock()
	for _, item := range items {
		if m.held[item.Key] != nil {
			return errors.New("put twice")
		}
		m.held[item.Key] = bytes.Clone(item.Content)
	}
	return nil
}

func (m *memory) Get(item *object.Item, _ []byte) ([]byte, error) {
	m.lock.Lock()
	defer m.lock.Unlock()
	held, found := m.held[item.Key]
	if !found {
		return nil, object.ErrMissing
	}
	if item.Key == m.spoil {
		return append([]byte("x"), held...), nil
	}
	if item.Key == m.short {
		return held[:len(held)/2], nil
	}
	return held, nil
}

func (m *memory) Delete(item *object.Item) error {
	m.lock.Lock()
	defer m.lock.Unlock()
	if m.held[item.Key] == nil {
		return object.ErrMissing
	}
	delete(m.held, item.Key)
	return nil
}

func set(t *testing.T, count int64) *blob.Set {
	t.Helper()
	sizes, err := blob.ParseSizes("uniform:1B:300B")
	if err != nil {
		t.Fatal(err)
	}
	return &blob.Set{Seed: 1, Count: count, Sizes: sizes}
}

// run does some work and gives what the store has to have then.
func run(t *testing.T, work *object.Work) (event.Summary, []byte) {
	t.Helper()
	var out bytes.Buffer
	summary, err := work.Run(context.Background(), event.NewWriter(&out))
	if err != nil {
		t.Fatal(err)
	}
	return summary, out.Bytes()
}

func TestEveryObjectIsPutOnceWhateverWorkersAndBatches(t *testing.T) {
	for _, workers := range []int{1, 3, 8} {
		for _, batch := range []int{1, 7, 100} {
			store := &memory{held: map[string][]byte{}}
			work := &object.Work{Set: set(t, 101), Store: store, Mix: object.Only(object.Put), Batch: batch, Pace: drive.Pace{Workers: workers}}
			summary, _ := run(t, work)
			if summary.Rows != 101 || summary.Errors != 0 || len(store.held) != 101 || len(work.Kept) != 101 {
				t.Fatalf("%d workers, batches of %d: %d put, %d held, %d kept, %d errors", workers, batch, summary.Rows, len(store.held), len(work.Kept), summary.Errors)
			}
		}
	}
}

func TestAMixLeavesWhatItSays(t *testing.T) {
	store := &memory{held: map[string][]byte{}}
	work := &object.Work{Set: set(t, 50), Store: store, Mix: object.Only(object.Put), Batch: 1, Pace: drive.Pace{Workers: 4}}
	run(t, work)
	work.Mix, work.Pace.Operations = object.Mix{1, 2, 1}, 2000
	summary, events := run(t, work)
	if summary.Errors != 0 || summary.Operations != 2000 || len(work.Kept) != len(store.held) {
		t.Fatalf("%d operations, %d errors, %d kept, %d held", summary.Operations, summary.Errors, len(work.Kept), len(store.held))
	}
	for _, kind := range object.Kinds {
		if !strings.Contains(string(events), `"type":"histogram","operation":"`+kind+`"`) {
			t.Errorf("no histogram of %s", kind)
		}
	}
	found, err := object.Check(context.Background(), work.Set, store, 3, work.Kept)
	if err != nil || found.SHA256 != found.Expected || found.Missing+found.Different+found.Back != 0 {
		t.Fatalf("%+v (%v)", found, err)
	}
	work.Mix, work.Pace.Operations = object.Only(object.Delete), 0
	if summary, _ := run(t, work); summary.Errors != 0 || len(store.held) != 0 || len(work.Kept) != 0 {
		t.Fatalf("%d errors, %d held after all was deleted", summary.Errors, len(store.held))
	}
}

func TestWhatAStoreLosesOrChangesIsFound(t *testing.T) {
	store := &memory{held: map[string][]byte{}}
	work := &object.Work{Set: set(t, 20), Store: store, Mix: object.Only(object.Put), Batch: 1, Pace: drive.Pace{Workers: 2}}
	run(t, work)
	store.spoil = string(work.Set.AppendKey(nil, 3))
	delete(store.held, string(work.Set.AppendKey(nil, 7)))
	found, err := object.Check(context.Background(), work.Set, store, 2, work.Kept)
	if err != nil || found.Missing != 1 || found.Different != 1 || found.SHA256 == found.Expected {
		t.Fatalf("%+v (%v)", found, err)
	}
	// One worker has every object: of several, a quick one does all gets before another begins, and never asks for theirs.
	work.Mix, work.Pace.Operations, work.Pace.Workers = object.Only(object.Get), 400, 1
	summary, events := run(t, work)
	if summary.Errors == 0 || !strings.Contains(string(events), "differs from what was put") || !strings.Contains(string(events), "no such object") {
		t.Errorf("%d errors", summary.Errors)
	}
	store.spoil, store.short = "", string(work.Set.AppendKey(nil, 5))
	work.Mix, work.Pace.Operations = object.Only(object.Get), 400
	if _, events := run(t, work); !strings.Contains(string(events), "differs from what was put") {
		t.Error("half an object was taken for the whole")
	}
	// As if object 0 had been deleted; the order of those that are kept depends on which worker came first.
	back := slices.DeleteFunc(slices.Clone(work.Kept), func(kept object.Entry) bool { return kept.Number == 0 })
	if found, _ := object.Check(context.Background(), work.Set, store, 1, back); found.Back == 0 {
		t.Error("an object that came back was not found")
	}
}

func TestAnOpenLoopCountsFromTheIntendedStart(t *testing.T) {
	store := &memory{held: map[string][]byte{}}
	work := &object.Work{Set: set(t, 100), Store: store, Mix: object.Only(object.Put), Batch: 1, Pace: drive.Pace{Workers: 2, Operations: 100, Rate: 2000}}
	summary, events := run(t, work)
	if summary.OfferedPerSecond == nil || *summary.OfferedPerSecond != 2000 || summary.Rows != 100 {
		t.Fatalf("%+v", summary)
	}
	if !strings.Contains(string(events), `"kind":"response"`) {
		t.Error("no response times")
	}
}

func TestFilesOnTwoDisks(t *testing.T) {
	for _, sync := range []files.Sync{files.None, files.Data, files.Folder} {
		one, two := t.TempDir(), t.TempDir()
		store := &files.Store{Folders: []string{one, two}, Sync: sync}
		if err := store.Prepare(); err != nil {
			t.Fatal(err)
		}
		work := &object.Work{Set: set(t, 30), Store: store, Mix: object.Only(object.Put), Batch: 4, Pace: drive.Pace{Workers: 2}}
		run(t, work)
		found, err := object.Check(context.Background(), work.Set, store, 2, work.Kept)
		if err != nil || found.Objects != 30 || found.SHA256 != found.Expected {
			t.Fatalf("%+v (%v)", found, err)
		}
		for _, folder := range []string{one, two} {
			if made, _ := filepath.Glob(filepath.Join(folder, "*", "*")); len(made) != 15 {
				t.Errorf("%d files on a disk", len(made))
			}
		}
	}
}

func TestKeptIsReadAsItWasWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kept")
	if kept, err := object.ReadKept(path); err != nil || kept != nil {
		t.Fatalf("%v %v", kept, err)
	}
	if err := object.WriteKept(path, []object.Entry{{Number: 2, Name: "3,01"}, {Number: 0}}); err != nil {
		t.Fatal(err)
	}
	kept, err := object.ReadKept(path)
	if text, _ := json.Marshal(kept); err != nil || string(text) != `[{"Number":0,"Name":""},{"Number":2,"Name":"3,01"}]` {
		t.Fatalf("%s (%v)", text, err)
	}
	if err := os.WriteFile(path, []byte("one\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := object.ReadKept(path); err == nil {
		t.Error("a line that is no object was taken")
	}
}

func BenchmarkPut(b *testing.B) {
	sizes, _ := blob.ParseSizes("4KiB")
	work := &object.Work{
		Set: &blob.Set{Seed: 1, Count: int64(b.N), Sizes: sizes}, Store: nothing{}, Mix: object.Only(object.Put),
		Batch: 1, Pace: drive.Pace{Workers: 1},
	}
	b.ReportAllocs()
	if _, err := work.Run(context.Background(), event.NewWriter(&bytes.Buffer{})); err != nil {
		b.Fatal(err)
	}
}

// nothing is a store that is as fast as can be: what a put costs the client alone.
type nothing struct{}

func (nothing) Name() string                             { return "nothing" }
func (nothing) Prepare() error                           { return nil }
func (nothing) Connect() (object.Conn, error)            { return nothing{}, nil }
func (nothing) Put([]object.Item) error                  { return nil }
func (nothing) Get(*object.Item, []byte) ([]byte, error) { return nil, object.ErrMissing }
func (nothing) Delete(*object.Item) error                { return nil }
func (nothing) Interrupt()                               {}
func (nothing) Close()                                   {}
