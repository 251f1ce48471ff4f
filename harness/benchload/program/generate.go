package program

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"syscall"

	"benchbook/benchload/command"
	"benchbook/benchload/dataset"
	"benchbook/benchload/format"
	"benchbook/benchload/load"
	"benchbook/benchload/stream"
)

// generateCommand has a command for each kind of dataset.
type generateCommand struct {
	Devops Generate[devopsFlags] `cmd:"" help:"Write telemetry of hosts: nine tables, 101 fields per host and tick."`
	IoT    Generate[iotFlags]    `cmd:"" name:"iot" help:"Write telemetry of trucks; rows are missing, late, or lack a tag or a field."`
	Frames Generate[framesFlags] `cmd:"" help:"Write the table of the group-by questions of the db-benchmark."`
	Joins  Generate[joinFlags]   `cmd:"" name:"join-frames" help:"Write the four tables of the join questions of the db-benchmark."`
	Hits   Generate[hitsFlags]   `cmd:"" help:"Write the table of ClickBench: page views with 105 columns."`
	Blob   generateBlobs         `cmd:"" help:"Write small objects, each as a frame: a line with its key and size, its bytes, a line end."`
}

// Generate writes a dataset, or its digest. The bytes depend on the flags alone: not
// on the number of cores, nor on when or where they are made.
type Generate[D DatasetFlags] struct {
	Dataset   D      `embed:""`
	Format    string `default:"influx" enum:"${formats}" help:"How rows are written: ${enum}."`
	BatchRows int64  `range:"1:4194304" placeholder:"N" help:"Rows of a batch of arrow, for each table, or of a row group of parquet. Other formats have no batches."`
	Endless   bool   `help:"After the rows of the dataset, go on with those that follow them in time, until the reader goes away."`
	Workers   int    `range:"1:1024" placeholder:"N" help:"Goroutines that generate. Default: one per core."`
	Progress  bool   `help:"Show the progress on standard error once per second."`
	Digest    bool   `help:"Print one JSON line instead of the rows: how many rows, values and bytes they are in line protocol, and their SHA-256."`
}

// Run generates.
func (g *Generate[D]) Run(c *command.Console) error {
	extent, err := g.Dataset.Extent()
	if err != nil {
		return err
	}
	if g.Digest && g.Format != "influx" {
		return command.Mistakef("--digest is of the format influx, but --format is %q; leave one of them out.", g.Format)
	}
	generator := g.Dataset.Generator(extent)
	form, rows, err := newFormat(g.Format, generator, g.BatchRows)
	if err != nil {
		return err
	}
	options := stream.Options{Workers: g.Workers, PieceRows: rows}
	if g.Endless {
		if _, isFramed := form.(format.Framed); isFramed || g.Digest {
			return command.Mistakef("--endless has no last row, which --digest and --format parquet need; leave it out.")
		}
		source := endless(extent, g.Dataset.Generator, form, options)
		defer source.Stop()
		defer context.AfterFunc(c.Context, source.Stop)()
		return copyEndless(c, source, form)
	}
	s := stream.New(generator, form, options)
	defer s.Close()
	defer context.AfterFunc(c.Context, s.Close)()
	meter := newMeter(c.Notes, g.Progress, dataset.Rows(generator))
	defer meter.stop()
	if g.Digest {
		return writeDigest(c, generator, s, meter)
	}
	return copyStream(c, s, form, meter)
}

// interrupted is an error if only a part was generated, which must not pass for the whole.
func interrupted(ctx context.Context) error {
	if ctx.Err() != nil {
		return errors.New("the generation was interrupted; the output is not the whole dataset")
	}
	return nil
}

// copyStream writes all pieces. A reader that goes away ends the work silently, as for
// every Unix tool.
func copyStream(c *command.Console, s *stream.Stream, form format.Format, meter *meter) error {
	framed, isFramed := form.(format.Framed)
	_, err := c.Out.Write(s.Header())
	for err == nil {
		piece, more := s.Next()
		if !more {
			if isFramed && c.Context.Err() == nil {
				_, err = c.Out.Write(framed.Footer())
			}
			break
		}
		bytes := piece.Bytes
		if isFramed {
			bytes = framed.Place(bytes)
		}
		_, err = c.Out.Write(bytes)
		meter.add(piece.Rows)
		s.Release(piece)
	}
	if err == nil {
		return interrupted(c.Context)
	}
	if errors.Is(err, syscall.EPIPE) {
		return nil
	}
	return cannotWrite(err)
}

// copyEndless writes rows until the reader goes away.
func copyEndless(c *command.Console, source load.Source, form format.Format) error {
	_, err := c.Out.Write(form.Header())
	for err == nil {
		batch, more := source.Next()
		if !more {
			return nil
		}
		_, err = c.Out.Write(batch.Bytes)
		source.Release(batch)
	}
	if errors.Is(err, syscall.EPIPE) {
		return nil
	}
	return cannotWrite(err)
}

// cannotWrite is the error of an output that takes no more bytes.
func cannotWrite(err error) error {
	return fmt.Errorf("cannot write the output (%w); make room or choose another place", err)
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
func writeDigest(c *command.Console, generator dataset.Generator, s *stream.Stream, meter *meter) error {
	extent := generator.Extent()
	line := digestLine{
		Generator: generator.Name(), Seed: extent.Seed, Scale: extent.Scale,
		Start: command.Clock(extent.Start), End: command.Clock(extent.End), IntervalNS: extent.Interval,
		WindowStart: command.Clock(extent.WindowStart), WindowEnd: command.Clock(extent.WindowEnd),
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
	if err := interrupted(c.Context); err != nil {
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
	return json.NewEncoder(c.Out).Encode(line)
}
