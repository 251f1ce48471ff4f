package ycsb

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"benchbook/benchload/command"
	"benchbook/benchload/system"
)

func TestKeysAreThoseOfYCSB(t *testing.T) {
	// From YCSB's Utils.hash, which CoreWorkload.buildKeyName puts behind "user".
	for number, expected := range map[int64]string{0: "user6284781860667377211", 1: "user8517097267634966620"} {
		if found := keyOf(number); found != expected {
			t.Errorf("the key of record %d is %s, not %s", number, found, expected)
		}
	}
}

// shares counts how often each number is chosen.
func shares(c *chooser, held int64, draws int) map[int64]float64 {
	found := map[int64]float64{}
	for range draws {
		found[c.next(held)] += 1 / float64(draws)
	}
	return found
}

func TestRanksFollowZipfsLaw(t *testing.T) {
	const items, draws = 1000, 200_000
	ranks, draw := &zipfian{}, rand.New(rand.NewPCG(1, 2))
	ranks.grow(items)
	found := make([]float64, items)
	for range draws {
		found[ranks.next(draw.Float64())]++
	}
	for rank, tolerance := range map[int]float64{0: 0.03, 1: 0.03} {
		expected := draws / math.Pow(float64(rank+1), skew) / ranks.zeta
		if math.Abs(found[rank]-expected) > tolerance*expected {
			t.Errorf("rank %d was drawn %g times, not about %g", rank, found[rank], expected)
		}
	}
	// Gray's method approximates single ranks beyond the second, and keeps the whole.
	law, drawn := 0.0, 0.0
	for rank := range 100 {
		law += draws / math.Pow(float64(rank+1), skew) / ranks.zeta
		drawn += found[rank]
	}
	if math.Abs(drawn-law) > 0.03*law {
		t.Errorf("the first 100 ranks were drawn %g times, not about %g", drawn, law)
	}
}

func TestZetaGrowsAsIfMadeAtOnce(t *testing.T) {
	grown, made := &zipfian{}, &zipfian{}
	for _, items := range []int64{1, 2, 10, 500} {
		grown.grow(items)
	}
	made.grow(500)
	if math.Abs(grown.zeta-made.zeta) > 1e-9 || math.Abs(grown.eta-made.eta) > 1e-9 {
		t.Errorf("grown in steps %+v, at once %+v", grown, made)
	}
}

func TestPopularRecordsAreScatteredAndStayPopular(t *testing.T) {
	c := newChooser(zipfianly, 2000, rand.New(rand.NewPCG(1, 1)))
	before, after := shares(&c, 1000, 50_000), shares(&c, 2000, 50_000)
	popular := hash(0) % 2000 // if it is among the first 1000, it stays the most popular
	if popular >= 1000 {
		popular = hash(1) % 2000
	}
	for number, share := range before {
		if number < 0 || number >= 1000 {
			t.Fatalf("record %d was chosen among 1000", number)
		}
		if share > before[popular]*1.2 {
			t.Errorf("record %d was chosen more often (%g) than %d (%g)", number, share, popular, before[popular])
		}
	}
	if after[popular] < 0.3*before[popular] {
		t.Errorf("record %d was popular (%g), and is not (%g)", popular, before[popular], after[popular])
	}
}

func TestTheLatestRecordsAreTheMostPopular(t *testing.T) {
	c := newChooser(latest, 0, rand.New(rand.NewPCG(1, 1)))
	for _, held := range []int64{1, 100, 101} {
		found := shares(&c, held, 20_000)
		if held > 1 && (found[held-1] < 0.1 || found[0] > found[held-1]/5) {
			t.Errorf("of %d records the last has %g and the first %g", held, found[held-1], found[0])
		}
	}
}

func TestARecordMayBeChosenOnceAllBeforeItAreThere(t *testing.T) {
	l := newLedger(5)
	first, second := l.take(), l.take()
	l.done(second)
	if l.held() != 5 {
		t.Errorf("%d records may be chosen, but %d is not there", l.held(), first)
	}
	l.done(first)
	if l.held() != 7 {
		t.Errorf("%d records may be chosen, not 7", l.held())
	}
}

func TestAnInsertThatFailedIsNotChosen(t *testing.T) {
	w := &work{ledger: newLedger(5)}
	failed := &client{work: w, kind: insert, number: w.ledger.take()}
	failed.Ended(&system.Failure{Kind: system.Timeout})
	reading := &client{work: w, kind: read, number: 5}
	reading.Ended(nil)
	if held := w.ledger.held(); held != 5 {
		t.Errorf("%d records may be chosen, not 5", held)
	}
	again := &client{work: w, kind: insert, number: failed.number}
	again.Ended(nil)
	if held := w.ledger.held(); held != 6 {
		t.Errorf("%d records may be chosen after an insert, not 6", held)
	}
}

func TestAValueThatWasNeverWrittenIsFound(t *testing.T) {
	record := Record{Key: "user1"}
	record.fill(3, 30, 10)
	if err := record.check(3, 30); err != nil {
		t.Fatal(err)
	}
	record.Fields[1] = valuesOf("user1", 30).append(nil, 1, 99) // an update
	if err := record.check(3, 30); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(*Record){
		"another record's": func(r *Record) { r.Key = "user2" },
		"another field's":  func(r *Record) { r.Fields[0], r.Fields[1] = r.Fields[1], r.Fields[0] },
		"changed":          func(r *Record) { r.Fields[2][29] ^= 1 },
		"an older":         func(r *Record) { r.Fields[2][0] = '9' },
		"cut":              func(r *Record) { r.Fields[2] = r.Fields[2][:29] },
		"absent":           func(r *Record) { r.Fields = r.Fields[:2] },
	} {
		spoilt := Record{Key: "user1"}
		spoilt.fill(3, 30, 10)
		spoil(&spoilt)
		if system.AsFailure(spoilt.check(3, 30)).Kind != system.BadAnswer {
			t.Errorf("%s value is taken as right", name)
		}
	}
	if text := string(valuesOf("user1", 24).append(nil, 0, 10)); text != "a.3d96f6d178cabfce900a04" {
		t.Errorf("the value is %s, which is not that of the client in Python", text)
	}
}

// memory is a store in the test.
type memory struct {
	lock    sync.Mutex
	records map[string][][]byte
	lies    bool
	// behind changes what a scan returns behind its first record.
	behind bool
}

func (*memory) Name() string             { return "memory" }
func (*memory) Prepare() error           { return nil }
func (m *memory) Connect() (Conn, error) { return m, nil }
func (*memory) Interrupt()               {}
func (*memory) Close()                   {}

func (m *memory) Insert(r *Record) error {
	m.lock.Lock()
	defer m.lock.Unlock()
	kept := make([][]byte, len(r.Fields))
	for i := range kept {
		kept[i] = slices.Clone(r.Fields[i])
	}
	m.records[r.Key] = kept
	return nil
}

func (m *memory) Update(key string, field int, value []byte) error {
	m.lock.Lock()
	defer m.lock.Unlock()
	changed := slices.Clone(m.records[key])
	changed[field] = slices.Clone(value)
	if m.lies {
		changed[field][len(value)-1] = 'x'
	}
	m.records[key] = changed
	return nil
}

func (m *memory) Read(key string, into []Record) ([]Record, error) { return m.Scan(key, 1, into) }

func (m *memory) Scan(from string, count int, into []Record) ([]Record, error) {
	m.lock.Lock()
	defer m.lock.Unlock()
	var keys []string
	for key := range m.records {
		if key >= from {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	for place, key := range keys[:min(count, len(keys))] {
		fields := m.records[key]
		if m.behind && place > 0 {
			fields = slices.Clone(fields)
			fields[0] = append(slices.Clone(fields[0][:len(fields[0])-1]), 'x')
		}
		into = append(into, Record{key, fields})
	}
	return into, nil
}

// program runs the command with a store of the test in place of null.
func program(t *testing.T, store Store) func(arguments ...string) (code int, summary map[string]any, kinds []string) {
	before := stores[0].Open
	stores[0].Open = func(place) (Store, error) { return store, nil }
	t.Cleanup(func() { stores[0].Open = before })
	kept := filepath.Join(t.TempDir(), "kept")
	p := command.Program{Name: "test", Version: "1", Commands: struct {
		Ycsb Command `cmd:""`
	}{}}
	return func(arguments ...string) (int, map[string]any, []string) {
		var out, notes bytes.Buffer
		code := p.Run(context.Background(), append([]string{"ycsb", "--target", "null", "--kept", kept, "--records", "200"}, arguments...), &out, &notes)
		var summary map[string]any
		var kinds []string
		for line := range bytes.Lines(out.Bytes()) {
			var one map[string]any
			if err := json.Unmarshal(line, &one); err != nil {
				t.Fatal(err)
			}
			if one["type"] == "summary" {
				summary = one
			}
			if one["type"] == "histogram" && one["kind"] == "service" {
				kinds = append(kinds, one["operation"].(string))
			}
		}
		if summary == nil {
			t.Fatal(notes.String())
		}
		return code, summary, kinds
	}
}

func TestEveryCoreWorkloadDoesItsOperations(t *testing.T) {
	store := &memory{records: map[string][][]byte{}}
	run := program(t, store)
	if code, summary, _ := run("--do", "load", "--workers", "3"); code != 0 || summary["operations"] != 200.0 || len(store.records) != 200 {
		t.Fatalf("code %d, %v", code, summary)
	}
	for do, expected := range map[string][]string{
		"a": {"read", "update"}, "b": {"read", "update"}, "c": {"read"}, "d": {"insert", "read"}, "f": {"read", "rmw"},
		"e": {"insert", "scan"},
	} {
		before := len(store.records)
		code, summary, kinds := run("--do", do, "--workers", "3", "--operations", "300")
		if code != 0 || summary["operations"] != 300.0 || summary["errors"] != 0.0 {
			t.Errorf("%s: code %d, %v", do, code, summary)
		}
		if slices.Sort(kinds); !slices.Equal(kinds, expected) {
			t.Errorf("%s did %v", do, kinds)
		}
		// null counts its records anew each time, so that inserts are repeated.
		if inserts := slices.Contains(expected, "insert"); len(store.records) > before && !inserts {
			t.Errorf("%s inserted %d records", do, len(store.records)-before)
		}
	}
	if code, summary, _ := run("--do", "check"); code != 0 || summary["operations"] != 200.0 {
		t.Errorf("check: code %d, %v", code, summary)
	}
}

func TestAStoreThatChangesAValueIsFound(t *testing.T) {
	run := program(t, &memory{records: map[string][][]byte{}, lies: true})
	run("--do", "load")
	if code, summary, _ := run("--do", "a", "--operations", "300"); code != 1 || summary["errors"] == 0.0 {
		t.Errorf("code %d, %v", code, summary)
	}
}

func TestEveryRecordOfAScanIsChecked(t *testing.T) {
	run := program(t, &memory{records: map[string][][]byte{}, behind: true})
	run("--do", "load")
	if code, summary, _ := run("--do", "e", "--operations", "300"); code != 1 || summary["errors"] == 0.0 {
		t.Errorf("code %d, %v", code, summary)
	}
}

func TestWorkersChooseOtherRecordsAndTheSeedDecidesWhich(t *testing.T) {
	chosen := func(seed uint64, worker int) (numbers []int64) {
		w := newWork(&Command{Do: "a", Records: 10_000, Fields: 10, FieldBytes: 100, Seed: seed}, 10_000)
		c := w.client(nil, worker)
		for operation := range int64(50) {
			c.Next(operation)
			numbers = append(numbers, c.number)
		}
		return numbers
	}
	first := chosen(1, 0)
	if !slices.Equal(first, chosen(1, 0)) {
		t.Error("a seed does not choose the same records again")
	}
	if slices.Equal(first, chosen(1, 1)) || slices.Equal(first, chosen(2, 0)) {
		t.Error("another worker, or another seed, chooses the same records")
	}
}
