package blob

import (
	"bytes"
	"context"
	"crypto/sha256"
	"io"
	"runtime"
	"strconv"
	"sync"
)

// Digest is what is known of all objects of a set.
type Digest struct {
	Objects int64
	Bytes   int64
	// SHA256 is over the SHA-256 of the objects, in order.
	SHA256 [sha256.Size]byte
}

// taskBytes is about how many bytes one task makes.
const taskBytes = 1 << 20

// task is some objects that one goroutine makes.
type task struct {
	first, end int64
	done       chan result
}

// result is what a task made.
type result struct {
	sums   []byte // of the objects, if they are asked for
	frames []byte // of the stream, if it is asked for
	bytes  int64
}

// Sum makes all objects from first to end-1 and digests them.
func (s *Set) Sum(ctx context.Context, first, end int64, workers int) (Digest, error) {
	hash := sha256.New()
	digest := Digest{Objects: end - first}
	err := s.each(ctx, first, end, workers, func(buffer []byte, from, to int64) result {
		var r result
		for object := from; object < to; object++ {
			buffer = s.Object(buffer[:0], object)
			sum := sha256.Sum256(buffer)
			r.sums = append(r.sums, sum[:]...)
			r.bytes += int64(len(buffer))
		}
		return r
	}, func(r result) error {
		hash.Write(r.sums)
		digest.Bytes += r.bytes
		return nil
	})
	hash.Sum(digest.SHA256[:0])
	return digest, err
}

// Write writes the objects from first to end-1 as frames: a line with the key and
// the number of bytes, the bytes, and a line end.
func (s *Set) Write(ctx context.Context, out io.Writer, first, end int64, workers int) error {
	return s.each(ctx, first, end, workers, func(buffer []byte, from, to int64) result {
		var frames bytes.Buffer
		for object := from; object < to; object++ {
			buffer = s.Object(buffer[:0], object)
			frames.Write(s.AppendKey(frames.AvailableBuffer(), object))
			frames.WriteByte(' ')
			frames.Write(strconv.AppendInt(frames.AvailableBuffer(), int64(len(buffer)), 10))
			frames.WriteByte('\n')
			frames.Write(buffer)
			frames.WriteByte('\n')
		}
		return result{frames: frames.Bytes()}
	}, func(r result) error {
		_, err := out.Write(r.frames)
		return err
	})
}

// each makes objects in tasks, side by side, and takes their results in order.
func (s *Set) each(ctx context.Context, first, end int64, workers int, work func([]byte, int64, int64) result, take func(result) error) error {
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	tasks, order := make(chan task), make(chan task, 2*workers)
	running.Add(workers + 1)
	go func() {
		defer running.Done()
		defer close(tasks)
		defer close(order)
		for at := first; at < end; {
			t := task{at, s.taskEnd(at, end), make(chan result, 1)}
			at = t.end
			select {
			case order <- t:
			case <-ctx.Done():
				return
			}
			select {
			case tasks <- t:
			case <-ctx.Done():
				return
			}
		}
	}()
	for range workers {
		go func() {
			defer running.Done()
			var buffer []byte
			for t := range tasks {
				t.done <- work(buffer, t.first, t.end)
			}
		}()
	}
	for t := range order {
		select {
		case r := <-t.done:
			if err := take(r); err != nil {
				return err
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return context.Cause(ctx)
}

// taskEnd is where a task that begins at an object ends.
func (s *Set) taskEnd(first, end int64) int64 {
	size := int64(0)
	for object := first; object < end; object++ {
		if size += s.Size(object); size >= taskBytes {
			return object + 1
		}
	}
	return end
}
