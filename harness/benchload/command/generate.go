package command

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"syscall"

	"benchbook/benchload/dataset"
	"benchbook/benchload/format"
	"benchbook/benchload/request"
	"benchbook/benchload/stream"
)

// generate writes a dataset, or its digest.
func generate(ctx context.Context, arguments []string, out, notes io.Writer) error {
	kind, arguments, err := takeDataset("generate", arguments, "blob")
	if err != nil {
		return err
	}
	if kind == "blob" {
		return generateBlobs(ctx, arguments, out)
	}
	flags := request.NewFlags("generate "+kind,
		"Writes the dataset "+kind+" to standard output. The bytes depend on the flags alone: not on cores, nor on when or where they are made.")
	extents := addExtent(flags, kind)
	formatName := flags.Choice("format", "How rows are written.", "influx", formatNames()...)
	batch := flags.Count("batch-rows", "Rows of a batch of arrow, for each table, or of a row group of parquet; other formats do not show it.", 0, 1, 1<<22)
	workers := flags.Count("workers", "Goroutines that generate; one a core if it is left out.", 0, 1, 1024)
	progress := flags.Switch("progress", "Shows on standard error how far it is, once a second.")
	digest := flags.Switch("digest", "Prints one JSON line instead of the rows: how many rows, values and bytes there are in line protocol, and their SHA-256.")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	extent, err := extents.extent()
	if err != nil {
		return err
	}
	generator := newGenerator(kind, extent)
	if *digest {
		if flags.Given("format") && *formatName != "influx" {
			return request.Mistakef("--digest is of the format influx, but --format is %q; leave one of them out.", *formatName)
		}
		*formatName = "influx"
	}
	form, rows, err := newFormat(*formatName, generator, *batch)
	if err != nil {
		return err
	}

	s := stream.New(generator, form, stream.Options{Workers: int(*workers), PieceRows: rows})
	defer s.Close()
	defer context.AfterFunc(ctx, func() { s.Close() })()
	meter := newMeter(notes, *progress, dataset.Rows(generator))
	defer meter.stop()
	if *digest {
		return writeDigest(ctx, out, generator, s, meter)
	}
	return copyStream(ctx, out, s, form, meter)
}

// interrupted tells that only a part was made, which must not pass for the whole.
func interrupted(ctx context.Context) error {
	if ctx.Err() != nil {
		return errors.New("the generation was interrupted; what was written is not the whole dataset")
	}
	return nil
}

// copyStream writes all pieces. A reader that goes away ends the work quietly,
// as it does for every Unix tool.
func copyStream(ctx context.Context, out io.Writer, s *stream.Stream, form format.Format, meter *meter) error {
	framed, isFramed := form.(format.Framed)
	_, err := out.Write(s.Header())
	for err == nil {
		piece, more := s.Next()
		if !more {
			if isFramed && ctx.Err() == nil {
				_, err = out.Write(framed.Footer())
			}
			break
		}
		bytes := piece.Bytes
		if isFramed {
			bytes = framed.Place(bytes)
		}
		_, err = out.Write(bytes)
		meter.add(piece.Rows)
		s.Release(piece)
	}
	if err == nil {
		return interrupted(ctx)
	}
	if errors.Is(err, syscall.EPIPE) {
		return nil
	}
	return fmt.Errorf("the output could not be written (%w); make room or choose another place", err)
}

// tableCount is how much of a table there is.
type tableCount struct {
	Rows   int64            `json:"rows"`
	Fields map[string]int64 `json:"fields"`
}

// digestLine is what --digest prints.
type digestLine struct {
	Generator   string                `json:"generator"`
	Seed        uint64                `json:"seed"`
	Scale       int64                 `json:"scale"`
	Start       string                `json:"start"`
	End         string                `json:"end"`
	IntervalNS  int64                 `json:"interval_ns"`
	WindowStart string                `json:"window_start"`
	WindowEnd   string                `json:"window_end"`
	SeriesFirst int64                 `json:"series_first"`
	SeriesCount int64                 `json:"series_count"`
	Rows        int64                 `json:"rows"`
	Values      int64                 `json:"values"`
	Bytes       int64                 `json:"bytes"`
	SHA256      string                `json:"sha256"`
	Tables      map[string]tableCount `json:"tables"`
}

// writeDigest prints one line about the bytes of all pieces.
func writeDigest(ctx context.Context, out io.Writer, generator dataset.Generator, s *stream.Stream, meter *meter) error {
	extent := generator.Extent()
	line := digestLine{
		Generator: generator.Name(), Seed: extent.Seed, Scale: extent.Scale,
		Start: clock(extent.Start), End: clock(extent.End), IntervalNS: extent.Interval,
		WindowStart: clock(extent.WindowStart), WindowEnd: clock(extent.WindowEnd),
		SeriesFirst: extent.SeriesFirst, SeriesCount: extent.SeriesCount,
		Tables: map[string]tableCount{},
	}
	hash := sha256.New()
	for {
		piece, more := s.Next()
		if !more {
			break
		}
		hash.Write(piece.Bytes)
		line.Rows += piece.Rows
		line.Values += piece.Values
		line.Bytes += int64(len(piece.Bytes))
		meter.add(piece.Rows)
		s.Release(piece)
	}
	if err := interrupted(ctx); err != nil {
		return err
	}
	line.SHA256 = hex.EncodeToString(hash.Sum(nil))
	census := dataset.Census(generator)
	for i, table := range generator.Tables() {
		count := tableCount{Rows: census[i].Rows, Fields: map[string]int64{}}
		for j, field := range table.Fields {
			count.Fields[field.Name] = census[i].Values[j]
		}
		line.Tables[table.Name] = count
	}
	return json.NewEncoder(out).Encode(line)
}
