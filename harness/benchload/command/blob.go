package command

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"syscall"

	"benchbook/benchload/dataset/blob"
	"benchbook/benchload/request"
)

// blobLine is what --digest prints of objects.
type blobLine struct {
	Generator string `json:"generator"`
	Seed      uint64 `json:"seed"`
	Count     int64  `json:"count"`
	Size      string `json:"size"`
	First     int64  `json:"first"`
	Objects   int64  `json:"objects"`
	Bytes     int64  `json:"bytes"`
	SHA256    string `json:"sha256"` // of the SHA-256 of the objects, in order
}

// generateBlobs writes objects as frames, or their digest.
func generateBlobs(ctx context.Context, arguments []string, out io.Writer) error {
	const most = 1 << 40
	flags := request.NewFlags("generate blob",
		"Writes small objects to standard output, each as a frame: a line with its key and its size, its bytes, and a line end.")
	seed := flags.Seed("seed", "What sizes and contents follow from.")
	count := flags.Count("count", "Objects of the dataset.", 1, 1, most)
	size := flags.Text("size", "How large the objects are.", "", "a size or a law of sizes, such as 4KiB, uniform:1KiB:16KiB or lognormal:4KiB:1")
	first := flags.Count("first", "The first object to write.", 0, 0, most)
	objects := flags.Count("objects", "How many objects to write; all from the first on if it is left out.", 0, 1, most)
	workers := flags.Count("workers", "Goroutines that generate; one a core if it is left out.", 0, 1, 1024)
	digest := flags.Switch("digest", "Prints one JSON line instead of the objects: how many objects and bytes there are, and the SHA-256 of their SHA-256s.")
	flags.Require("seed", "count", "size")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	sizes, err := blob.ParseSizes(*size)
	if err != nil {
		return request.Mistakef("--size %s; change it.", err)
	}
	if *first >= *count {
		return request.Mistakef("--first is %d, but --count %d has only the objects 0 to %d; give a smaller one.", *first, *count, *count-1)
	}
	end := *count
	if flags.Given("objects") {
		if *objects > *count-*first {
			return request.Mistakef("--objects is %d, but from --first %d on there are only %d; give at most that.",
				*objects, *first, *count-*first)
		}
		end = *first + *objects
	}
	set := &blob.Set{Seed: *seed, Count: *count, Sizes: sizes}
	if !*digest {
		err := set.Write(ctx, out, *first, end, int(*workers))
		if err == nil || errors.Is(err, syscall.EPIPE) {
			return nil
		}
		return fmt.Errorf("the output could not be written (%w); make room or choose another place", err)
	}
	sum, err := set.Sum(ctx, *first, end, int(*workers))
	if err != nil {
		return fmt.Errorf("the digest was interrupted: %w", err)
	}
	return json.NewEncoder(out).Encode(blobLine{
		Generator: "blob", Seed: *seed, Count: *count, Size: sizes.String(), First: *first,
		Objects: sum.Objects, Bytes: sum.Bytes, SHA256: hex.EncodeToString(sum.SHA256[:]),
	})
}
