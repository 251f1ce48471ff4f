package object

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"benchbook/benchload/dataset/blob"
)

// Checked is the result of reading all objects back.
type Checked struct {
	Objects   int64 // read
	Bytes     int64
	Missing   int64 // that the store does not have
	Different int64 // that have other bytes
	Back      int64 // that were deleted and are there
	// SHA256 is over the SHA-256 of the objects as they were read, in the order of
	// their numbers; Expected over those of the dataset.
	SHA256, Expected [sha256.Size]byte
}

// mostAbsent is how many of the deleted objects are asked for.
const mostAbsent = 1000

// Check reads every object that the store must have.
func Check(ctx context.Context, set *blob.Set, store Store, workers int, kept []Entry) (Checked, error) {
	var found Checked
	kept = slices.Clone(kept)
	slices.SortFunc(kept, func(a, b Entry) int { return cmp.Compare(a.Number, b.Number) })
	sums := make([][2][sha256.Size]byte, len(kept))
	err := each(ctx, store, workers, int64(len(kept)), func(client Conn, at int64) error {
		item := item(set, kept[at])
		content, err := client.Get(&item, nil)
		expected := set.Object(nil, item.Number)
		sums[at] = [2][sha256.Size]byte{sha256.Sum256(content), sha256.Sum256(expected)}
		switch {
		case errors.Is(err, ErrMissing):
			atomic.AddInt64(&found.Missing, 1)
		case err != nil:
			return err
		default:
			atomic.AddInt64(&found.Objects, 1)
			atomic.AddInt64(&found.Bytes, int64(len(content)))
			if sums[at][0] != sums[at][1] {
				atomic.AddInt64(&found.Different, 1)
			}
		}
		return nil
	})
	if err != nil {
		return found, err
	}
	read, expected := sha256.New(), sha256.New()
	for i := range sums {
		read.Write(sums[i][0][:])
		expected.Write(sums[i][1][:])
	}
	read.Sum(found.SHA256[:0])
	expected.Sum(found.Expected[:0])
	gone := absent(kept)
	err = each(ctx, store, workers, int64(len(gone)), func(client Conn, at int64) error {
		item := item(set, Entry{Number: gone[at]})
		_, err := client.Get(&item, nil)
		if err == nil {
			atomic.AddInt64(&found.Back, 1)
		} else if !errors.Is(err, ErrMissing) {
			return err
		}
		return nil
	})
	return found, err
}

// item is an object that is asked for.
func item(set *blob.Set, entry Entry) Item {
	return Item{Number: entry.Number, Name: entry.Name, Key: string(set.AppendKey(nil, entry.Number))}
}

// absent is the numbers that are missing among those of the kept objects, the first of
// them. A store that gives names cannot be asked for what it has forgotten.
func absent(kept []Entry) []int64 {
	var gone []int64
	next := int64(0)
	for _, entry := range kept {
		if entry.Name != "" {
			return nil
		}
		for ; next < entry.Number && len(gone) < mostAbsent; next++ {
			gone = append(gone, next)
		}
		next = entry.Number + 1
	}
	return gone
}

// each calls work for 0 … count-1 with a client of one of the workers.
func each(ctx context.Context, store Store, workers int, count int64, work func(Conn, int64) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var done sync.WaitGroup
	for range workers {
		client, err := store.Connect()
		if err != nil {
			return err
		}
		defer client.Close()
		defer context.AfterFunc(ctx, client.Interrupt)()
		done.Add(1)
		go func() {
			defer done.Done()
			for at := next.Add(1) - 1; at < count && ctx.Err() == nil; at = next.Add(1) - 1 {
				if err := work(client, at); err != nil {
					cancel(err)
				}
			}
		}()
	}
	done.Wait()
	return context.Cause(ctx)
}
