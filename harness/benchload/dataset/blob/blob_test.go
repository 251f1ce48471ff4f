package blob

import (
	"bufio"
	"bytes"
	"compress/flate"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"slices"
	"testing"

	"benchbook/benchload/walk"
)

// set is a dataset of so many objects.
func set(t testing.TB, count int64, sizes string) *Set {
	law, err := ParseSizes(sizes)
	if err != nil {
		t.Fatal(err)
	}
	return &Set{Seed: 1, Count: count, Sizes: law}
}

// The bytes of a dataset never change.
func TestGoldenDigests(t *testing.T) {
	for _, c := range []struct{ sizes, digest string }{
		{"1KiB", "a78b3bd5991d58234351d4fd21dd981918690b804fe64a7833a12ada847b3aa2"},
		{"uniform:1B:100B", "5fd13f4e8114d25cc52ce97ae3fced016504d3933c764aeee53f8cbfcb73d692"},
		{"lognormal:4KiB:1", "92ddb81d2dd391bb8d65c75bf942235a3cd0954367f1ebd225053c8a0b371433"},
	} {
		for _, workers := range []int{1, 2, 7} {
			digest, err := set(t, 1000, c.sizes).Sum(context.Background(), 0, 1000, workers)
			if got := hex.EncodeToString(digest.SHA256[:]); err != nil || got != c.digest {
				t.Errorf("%s: %s (%v), want %s", c.sizes, got, err, c.digest)
			}
		}
	}
}

func TestContentIsTheStreamOfAKey(t *testing.T) {
	s := set(t, 100, "uniform:1B:200B")
	for object := range s.Count {
		got := s.Object(nil, object)
		var want []byte
		key := walk.Key(s.Seed, streamContent, uint64(object))
		for n := uint64(0); len(want) < len(got); n++ {
			word := walk.At(key, n)
			for i := range 8 {
				want = append(want, byte(word>>(8*i)))
			}
		}
		if int64(len(got)) != s.Size(object) || !bytes.Equal(got, want[:len(got)]) {
			t.Fatalf("object %d is %x, want %x", object, got, want)
		}
	}
}

func TestAnObjectDoesNotDependOnTheBuffer(t *testing.T) {
	s := set(t, 50, "lognormal:300B:1")
	buffer := make([]byte, 1<<16)
	for object := range s.Count {
		if !bytes.Equal(s.Object(buffer, object), s.Object(nil, object)) {
			t.Fatalf("object %d depends on the buffer", object)
		}
	}
	if n := testing.AllocsPerRun(10, func() { buffer = s.Object(buffer, 7) }); n != 0 {
		t.Errorf("%f allocations with a large buffer", n)
	}
}

func TestContentCannotBeCompressed(t *testing.T) {
	content := set(t, 1, "1MiB").Object(nil, 0)
	var packed bytes.Buffer
	writer, _ := flate.NewWriter(&packed, flate.BestCompression)
	_, _ = writer.Write(content)
	_ = writer.Close()
	if packed.Len() < len(content) {
		t.Errorf("%d bytes are compressed to %d", len(content), packed.Len())
	}
}

func TestKeysDiffer(t *testing.T) {
	s := set(t, 10000, "1B")
	seen := map[string]bool{}
	for object := range s.Count {
		seen[string(s.AppendKey(nil, object))] = true
	}
	if len(seen) != 10000 {
		t.Errorf("%d keys of 10000 objects", len(seen))
	}
	for _, object := range []int64{0, 7, 9_999_999_999, 10_000_000_000, math.MaxInt64} {
		if key := string(s.AppendKey(nil, object)); key[2:] != fmt.Sprintf("/%010d", object) {
			t.Errorf("object %d has the key %s", object, key)
		}
	}
}

// Frames are read by a parser that knows only their description.
func TestFrames(t *testing.T) {
	s := set(t, 300, "lognormal:2KiB:1.5")
	var parts [2]bytes.Buffer
	for i := range parts {
		if err := s.Write(context.Background(), &parts[i], int64(i)*120, 120+int64(i)*180, 1+i); err != nil {
			t.Fatal(err)
		}
	}
	all := bufio.NewReader(io.MultiReader(&parts[0], &parts[1]))
	hash := sha256.New()
	for object := range s.Count {
		var key string
		var size int64
		if _, err := fmt.Fscanf(all, "%s %d\n", &key, &size); err != nil {
			t.Fatal(err)
		}
		content := make([]byte, size+1)
		if _, err := io.ReadFull(all, content); err != nil || content[size] != '\n' {
			t.Fatalf("object %d does not end with a line end (%v)", object, err)
		}
		if key != string(s.AppendKey(nil, object)) || !bytes.Equal(content[:size], s.Object(nil, object)) {
			t.Fatalf("object %d is not what its frame has", object)
		}
		sum := sha256.Sum256(content[:size])
		hash.Write(sum[:])
	}
	digest, err := s.Sum(context.Background(), 0, s.Count, 0)
	if err != nil || !bytes.Equal(hash.Sum(nil), digest.SHA256[:]) {
		t.Error("the digest is not that of the frames")
	}
}

func TestAFullOutputEndsTheWork(t *testing.T) {
	s := set(t, 100000, "4KiB")
	if err := s.Write(context.Background(), full{}, 0, s.Count, 3); err == nil {
		t.Error("no error")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := s.Sum(ctx, 0, s.Count, 3); err == nil {
		t.Error("no error after the interruption")
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

func TestTheLognormalLaw(t *testing.T) {
	const count = 200000
	s := set(t, count, "lognormal:4KiB:1")
	sum, squares := 0.0, 0.0
	sizes := make([]int64, count)
	for object := range int64(count) {
		sizes[object] = s.Size(object)
		x := math.Log(float64(sizes[object]) / 4096)
		sum, squares = sum+x, squares+x*x
	}
	if mean, deviation := sum/count, math.Sqrt(squares/count); math.Abs(mean) > 0.01 || math.Abs(deviation-1) > 0.01 {
		t.Errorf("the logarithm has mean %.4f and deviation %.4f", mean, deviation)
	}
	slices.Sort(sizes)
	if median := sizes[count/2]; median < 4040 || median > 4150 {
		t.Errorf("the median is %d", median)
	}
}

func TestTheUniformLaw(t *testing.T) {
	s := set(t, 100000, "uniform:3B:12B")
	seen := map[int64]int{}
	for object := range s.Count {
		seen[s.Size(object)]++
	}
	for size := int64(3); size <= 12; size++ {
		if n := seen[size]; n < 9500 || n > 10500 {
			t.Errorf("%d objects of %d bytes", n, size)
		}
	}
	if len(seen) != 10 {
		t.Errorf("%d sizes", len(seen))
	}
}

func TestExp2(t *testing.T) {
	for _, part := range []uint32{0, 1, 1 << 31, 12345678, math.MaxUint32} {
		got, want := float64(exp2(part))/(1<<62), math.Exp2(float64(part)/(1<<32))
		if math.Abs(got/want-1) > 1e-12 {
			t.Errorf("exp2(%d) is %g, want %g", part, got, want)
		}
	}
}

func TestExtremeSizesAreKeptInRange(t *testing.T) {
	large, small := set(t, 1, "lognormal:1GiB:4").Sizes, set(t, 1, "lognormal:1B:4").Sizes
	for _, random := range []uint64{0, 1 << 63, math.MaxUint64, math.MaxInt64} {
		if size := large.size(random); size < 1 || size > MaxSize {
			t.Errorf("%d bytes", size)
		}
		if size := small.size(random); size < 1 || size > MaxSize {
			t.Errorf("%d bytes", size)
		}
	}
}

func TestWrongLaws(t *testing.T) {
	for _, text := range []string{"", "4", "0B", "x", "4kb", "uniform:4KiB", "uniform:4KiB:1KiB", "normal:1B:1", "lognormal:4KiB:0", "lognormal:4KiB:5", "2GiB", "-1B"} {
		if law, err := ParseSizes(text); (err == nil) != (text == "4") {
			t.Errorf("%q: %v, %v", text, law, err)
		}
	}
}

func FuzzParseSizes(f *testing.F) {
	f.Add("4KiB", uint64(1))
	f.Add("uniform:1KiB:16KiB", uint64(2))
	f.Add("lognormal:4KiB:1", uint64(3))
	f.Fuzz(func(t *testing.T, text string, random uint64) {
		law, err := ParseSizes(text)
		if err != nil {
			return
		}
		if size := law.size(random); size < 1 || size > MaxSize {
			t.Errorf("%q makes %d bytes", text, size)
		}
	})
}

func BenchmarkObject(b *testing.B) {
	s := set(b, 1<<30, "4KiB")
	b.SetBytes(4096)
	b.ReportAllocs()
	var buffer []byte
	for object := range int64(b.N) {
		buffer = s.Object(buffer, object)
	}
}
