package program

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"syscall"

	"benchbook/benchload/command"
	"benchbook/benchload/dataset/blob"
)

// blobFlags say which objects are meant.
type blobFlags struct {
	Seed  uint64 `required:"" placeholder:"N" help:"The number that sizes and contents follow from."`
	Count int64  `required:"" range:"1:" placeholder:"N" help:"Objects of the dataset."`
	Size  string `required:"" placeholder:"SIZE" help:"How large the objects are: a size or a law of sizes, such as 4KiB, uniform:1KiB:16KiB or lognormal:4KiB:1."`
}

// set returns the objects.
func (f *blobFlags) set() (*blob.Set, error) {
	sizes, err := blob.ParseSizes(f.Size)
	if err != nil {
		return nil, command.Mistakef("--size %s; change it.", err)
	}
	return &blob.Set{Seed: f.Seed, Count: f.Count, Sizes: sizes}, nil
}

// generateBlobs writes objects as frames, or their digest.
type generateBlobs struct {
	blobFlags
	First   int64  `default:"0" placeholder:"N" help:"Begins with the object of this number."`
	Objects *int64 `range:"1:" placeholder:"N" help:"Writes only this number of objects."`
	Workers int    `range:"1:1024" placeholder:"N" help:"Goroutines that generate. Default: one per core."`
	Digest  bool   `help:"Print one JSON line instead of the objects: how many objects and bytes there are, and the SHA-256 of their SHA-256s."`
}

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

// Run generates.
func (g *generateBlobs) Run(c *command.Console) error {
	set, err := g.set()
	if err != nil {
		return err
	}
	if g.First >= g.Count {
		return command.Mistakef("--first is %d, but --count %d has only the objects 0 to %d; give a smaller one.", g.First, g.Count, g.Count-1)
	}
	end := g.Count
	if g.Objects != nil {
		if *g.Objects > g.Count-g.First {
			return command.Mistakef("--objects is %d, but from --first %d on there are only %d; give at most that.", *g.Objects, g.First, g.Count-g.First)
		}
		end = g.First + *g.Objects
	}
	if !g.Digest {
		if err := set.Write(c.Context, c.Out, g.First, end, g.Workers); err != nil && !errors.Is(err, syscall.EPIPE) {
			return cannotWrite(err)
		}
		return nil
	}
	sum, err := set.Sum(c.Context, g.First, end, g.Workers)
	if err != nil {
		return fmt.Errorf("the digest was interrupted: %w", err)
	}
	return json.NewEncoder(c.Out).Encode(blobLine{
		Generator: "blob", Seed: g.Seed, Count: g.Count, Size: set.Sizes.String(), First: g.First,
		Objects: sum.Objects, Bytes: sum.Bytes, SHA256: hex.EncodeToString(sum.SHA256[:]),
	})
}
