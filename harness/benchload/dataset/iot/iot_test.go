package iot

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"math/rand/v2"
	"testing"

	"benchbook/benchload/dataset"
	"benchbook/benchload/format"
	"benchbook/benchload/stream"
)

const (
	start    = 1640995200_000000000
	interval = 50_000000000
)

// extent is a whole dataset of so many trucks and ticks.
func extent(trucks, ticks int64) dataset.Extent {
	return dataset.Extent{
		Seed: 123, Scale: trucks, Start: start, End: start + ticks*interval, Interval: interval,
		WindowStart: start, WindowEnd: start + ticks*interval, SeriesCount: trucks,
	}
}

// read gives all bytes of an extent, and checks rows and values on the way.
func read(t testing.TB, e dataset.Extent, options stream.Options) []byte {
	generator := New(e)
	s := stream.New(generator, format.NewInflux(generator), options)
	defer s.Close()
	var all bytes.Buffer
	rows, values := int64(0), int64(0)
	for {
		piece, more := s.Next()
		if !more {
			break
		}
		if lines := int64(bytes.Count(piece.Bytes, []byte("\n"))); lines != piece.Rows || options.PieceRows > 0 && lines > options.PieceRows {
			t.Fatalf("a piece of %d rows has %d lines", piece.Rows, lines)
		}
		all.Write(piece.Bytes)
		rows, values = rows+piece.Rows, values+piece.Values
		s.Release(piece)
	}
	if rows != dataset.Rows(generator) || values != dataset.Values(generator) {
		t.Fatalf("%d rows and %d values, want %d and %d", rows, values, dataset.Rows(generator), dataset.Values(generator))
	}
	return all.Bytes()
}

// The bytes of a dataset never change.
func TestGoldenDigests(t *testing.T) {
	for _, c := range []struct {
		trucks, ticks int64
		digest        string
	}{
		{1, 500, "28a195fb6eb5f1ca478a58bcea896f185d183d685de4fda4b3a7e37941f4eb3e"},
		{10, 300, "a3ee7dd87135e866df5a83264d751f9a090cd6a8152d3b5e0ecd23ac5925b6d8"},
		{100, 100, "c9329d161ea825fc14253a1de93d0aa67ed6f839319c6c7db31ef1e85cc57c38"},
		{3000, 3, "470cfc23b884fcd66371aa57065af48e71579988145c26f701a832c22667b104"},
	} {
		sum := sha256.Sum256(read(t, extent(c.trucks, c.ticks), stream.Options{}))
		if got := hex.EncodeToString(sum[:]); got != c.digest {
			t.Errorf("%d trucks, %d ticks: %s, want %s", c.trucks, c.ticks, got, c.digest)
		}
	}
}

func TestNeitherWorkersNorPiecesChangeTheBytes(t *testing.T) {
	for _, trucks := range []int64{1, 7, 90} {
		e := extent(trucks, 300)
		whole := read(t, e, stream.Options{Workers: 1})
		for _, options := range []stream.Options{
			{Workers: 2}, {Workers: 5, PieceRows: 1}, {Workers: 3, PieceRows: 5000}, {PieceRows: 1 << 20}, {Workers: 2, PieceRows: 77},
		} {
			if !bytes.Equal(read(t, e, options), whole) {
				t.Errorf("%d trucks: the bytes differ with %+v", trucks, options)
			}
		}
	}
}

func TestWindowsJoinedAreTheWhole(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 40 {
		e := extent(1+random.Int64N(100), 1+random.Int64N(200))
		e.Seed = random.Uint64()
		if random.IntN(3) == 0 {
			e.Table = TableNames()[random.IntN(2)]
		}
		whole := read(t, e, stream.Options{})
		var joined []byte
		for at := e.Start; at < e.End; {
			part := e
			part.WindowStart = at
			part.WindowEnd = min(at+1+random.Int64N(60*interval), e.End)
			joined = append(joined, read(t, part, stream.Options{})...)
			at = part.WindowEnd
		}
		if !bytes.Equal(whole, joined) {
			t.Fatalf("%d trucks, table %q: the windows joined are not the whole", e.Scale, e.Table)
		}
	}
}

// Rows of a tick are ordered by truck, so ranges of trucks are merged by tick.
func TestRangesOfTrucksJoinedAreTheWhole(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 20 {
		e := extent(2+random.Int64N(90), 1+random.Int64N(90))
		e.Seed = random.Uint64()
		var parts []dataset.Extent
		for first := int64(0); first < e.Scale; {
			part := e
			part.SeriesFirst, part.SeriesCount = first, min(1+random.Int64N(40), e.Scale-first)
			first += part.SeriesCount
			parts = append(parts, part)
		}
		var joined []byte
		for at := e.Start; at < e.End; at += interval {
			for _, part := range parts {
				part.WindowStart, part.WindowEnd = at, at+interval
				joined = append(joined, read(t, part, stream.Options{Workers: 1})...)
			}
		}
		if !bytes.Equal(read(t, e, stream.Options{}), joined) {
			t.Fatalf("%d trucks: the ranges joined are not the whole", e.Scale)
		}
	}
}

func TestRowsAreCountedAnyhow(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 50 {
		e := extent(1+random.Int64N(300), 1+random.Int64N(300))
		g := New(e)
		first, end := e.Ticks()
		middle, split := first+random.Int64N(end-first+1), random.Int64N(e.Scale+1)
		sum := g.CountRows(first, middle, 0, split) + g.CountRows(middle, end, 0, split) +
			g.CountRows(first, middle, split, e.Scale-split) + g.CountRows(middle, end, split, e.Scale-split)
		if whole := g.CountRows(first, end, 0, e.Scale); sum != whole {
			t.Fatalf("%d rows in parts, %d in the whole", sum, whole)
		}
	}
}

func BenchmarkInflux(b *testing.B) {
	for _, trucks := range []int64{10, 100, 4000} {
		b.Run(string(appendTag(nil, 0, trucks, 0)), func(b *testing.B) {
			g := New(extent(trucks, int64(b.N)/trucks+1))
			s := stream.New(g, format.NewInflux(g), stream.Options{Workers: 1})
			defer s.Close()
			b.ReportAllocs()
			bytes, rows := 0, 0
			for rows < b.N {
				piece, _ := s.Next()
				rows, bytes = rows+int(piece.Rows), bytes+len(piece.Bytes)
				s.Release(piece)
			}
			b.SetBytes(int64(bytes / rows))
			b.ReportMetric(float64(rows)/b.Elapsed().Seconds()/1e6, "Mrows/s")
		})
	}
}
