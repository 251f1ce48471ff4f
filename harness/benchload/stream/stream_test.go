package stream

import (
	"bytes"
	"math/rand/v2"
	"runtime"
	"testing"

	"benchbook/benchload/dataset"
	"benchbook/benchload/dataset/devops"
	"benchbook/benchload/format"
)

const (
	start    = 1451606400_000000000
	interval = 10_000000000
)

// extent is a whole dataset of so many hosts and ticks.
func extent(hosts, ticks int64) dataset.Extent {
	return dataset.Extent{
		Seed: 1, Scale: hosts, Start: start, End: start + ticks*interval, Interval: interval,
		WindowStart: start, WindowEnd: start + ticks*interval, SeriesCount: hosts,
	}
}

// read gives all bytes of an extent, and checks the pieces on the way.
func read(t testing.TB, e dataset.Extent, options Options) []byte {
	generator := devops.New(e)
	s := New(generator, format.NewInflux(generator), options)
	defer s.Close()
	var all bytes.Buffer
	rows, values, number := int64(0), int64(0), int64(0)
	for {
		piece, more := s.Next()
		if !more {
			break
		}
		if piece.Number != number || piece.First != rows {
			t.Fatalf("piece %d begins at row %d, want piece %d at %d", piece.Number, piece.First, number, rows)
		}
		if lines := int64(bytes.Count(piece.Bytes, []byte("\n"))); lines != piece.Rows {
			t.Fatalf("a piece of %d rows has %d lines", piece.Rows, lines)
		}
		all.Write(piece.Bytes)
		rows, values, number = rows+piece.Rows, values+piece.Values, number+1
		s.Release(piece)
	}
	if rows != dataset.Rows(generator) || values != dataset.Values(generator) {
		t.Fatalf("%d rows and %d values, want %d and %d", rows, values, dataset.Rows(generator), dataset.Values(generator))
	}
	return all.Bytes()
}

func TestNeitherWorkersNorPiecesNorBlocksChangeTheBytes(t *testing.T) {
	e := extent(7, 150)
	whole := read(t, e, Options{Workers: 1})
	for _, options := range []Options{
		{Workers: 2}, {Workers: 5, PieceRows: 1}, {Workers: 3, PieceRows: 5000}, {PieceRows: 1 << 20},
		{Workers: 2, blockBytes: 1}, {Workers: 3, PieceRows: 100, blockBytes: 3 * 808},
		{Workers: 2, blockBytes: 20000, PieceRows: 77}, {Workers: 4, PieceRows: 640, Readers: 9},
	} {
		if !bytes.Equal(read(t, e, options), whole) {
			t.Errorf("the bytes differ with %+v", options)
		}
	}
	before := runtime.GOMAXPROCS(1)
	one := read(t, e, Options{})
	runtime.GOMAXPROCS(2)
	two := read(t, e, Options{})
	runtime.GOMAXPROCS(before)
	if !bytes.Equal(one, two) || !bytes.Equal(one, whole) {
		t.Error("the bytes depend on GOMAXPROCS")
	}
}

func TestWindowsJoinedAreTheWhole(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 20 {
		e := extent(1+random.Int64N(6), 1+random.Int64N(300))
		e.Seed = random.Uint64()
		whole := read(t, e, Options{})
		var joined []byte
		for at := e.Start; at < e.End; {
			part := e
			part.WindowStart = at
			// Borders need not be on ticks.
			part.WindowEnd = min(e.End, at+1+random.Int64N(100*interval))
			at = part.WindowEnd
			joined = append(joined, read(t, part, Options{Workers: 1 + random.IntN(3), PieceRows: 1 + random.Int64N(999)})...)
		}
		if !bytes.Equal(joined, whole) {
			t.Fatalf("the windows of %+v do not make the whole", e)
		}
	}
}

func TestRangesOfSeriesMergedAreTheWhole(t *testing.T) {
	e := extent(9, 40)
	whole := bytes.SplitAfter(read(t, e, Options{}), []byte("\n"))
	perTick := int64(9 * 9)
	for clients := int64(1); clients <= 10; clients++ {
		merged := make([][]byte, len(whole)-1)
		for index := range clients {
			part := e
			part.SeriesFirst = e.SeriesCount * index / clients
			part.SeriesCount = e.SeriesCount*(index+1)/clients - part.SeriesFirst
			lines := bytes.SplitAfter(read(t, part, Options{}), []byte("\n"))
			for i, line := range lines[:len(lines)-1] {
				tick, rest := int64(i)/(part.SeriesCount*9), int64(i)%(part.SeriesCount*9)
				merged[tick*perTick+part.SeriesFirst*9+rest] = line
			}
		}
		for i := range merged {
			if !bytes.Equal(merged[i], whole[i]) {
				t.Fatalf("with %d clients, row %d is %q, want %q", clients, i, merged[i], whole[i])
			}
		}
	}
}

func TestOneTableIsItsLinesOfTheWhole(t *testing.T) {
	e := extent(3, 70)
	want := []byte{}
	for _, line := range bytes.SplitAfter(read(t, e, Options{}), []byte("\n")) {
		if bytes.HasPrefix(line, []byte("mem,")) {
			want = append(want, line...)
		}
	}
	e.Table = "mem"
	if got := read(t, e, Options{}); !bytes.Equal(got, want) {
		t.Error("the table alone differs from the table in the whole")
	}
}

func TestFarTicksCanBeEntered(t *testing.T) {
	e := extent(2, 1<<31)
	e.Interval = 1_000_000
	e.End = e.Start + (1<<32-1)*e.Interval
	e.WindowStart, e.WindowEnd = e.End-100*e.Interval, e.End
	if rows := bytes.Count(read(t, e, Options{}), []byte("\n")); rows != 1800 {
		t.Errorf("%d rows, want 1800", rows)
	}
}

func TestCloseEndsAStreamThatNobodyReads(t *testing.T) {
	generator := devops.New(extent(100, 100000))
	s := New(generator, format.NewInflux(generator), Options{Workers: 3})
	if _, more := s.Next(); !more {
		t.Fatal("there is no first piece")
	}
	s.Close()
	if _, more := s.Next(); more {
		t.Error("a closed stream gives a piece")
	}
}

func TestAWorkerTakesTheMemoryItWroteLast(t *testing.T) {
	s := &Stream{free: []*Piece{{Number: 1, maker: 1}, {Number: 2, maker: 1}, {Number: 3, maker: 0}, {Number: 4, maker: 0}}}
	for _, want := range []int64{2, 1, 4} { // its own from the top, then any
		if got := s.takeFree(1).Number; got != want {
			t.Fatalf("took piece %d, want %d", got, want)
		}
	}
	if len(s.free) != 1 || s.free[0].Number != 3 {
		t.Fatalf("left %+v", s.free)
	}
}

func TestGeneratingDoesNotAllocate(t *testing.T) {
	generator := devops.New(extent(10, 20000))
	s := New(generator, format.NewInflux(generator), Options{Workers: 1})
	defer s.Close()
	next := func() {
		piece, _ := s.Next()
		s.Release(piece)
	}
	for range 200 {
		next()
	}
	if allocations := testing.AllocsPerRun(500, next); allocations > 0.1 {
		t.Errorf("%v allocations a piece", allocations)
	}
}

func BenchmarkStream(b *testing.B) {
	generator := devops.New(extent(100, int64(b.N)/900+1))
	s := New(generator, format.NewInflux(generator), Options{})
	defer s.Close()
	b.ResetTimer()
	size := int64(0)
	for {
		piece, more := s.Next()
		if !more {
			break
		}
		size += int64(len(piece.Bytes))
		s.Release(piece)
	}
	b.SetBytes(size / int64(b.N))
}
