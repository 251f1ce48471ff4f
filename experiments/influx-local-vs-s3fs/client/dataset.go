package main

import (
	"fmt"
	"strings"

	"benchbook/benchload/command"
	"benchbook/benchload/dataset"
	"benchbook/benchload/program"
	"benchbook/experiments/influx-local-vs-s3fs/client/series"
)

// stressFlags are those of the dataset stress.
type stressFlags struct {
	program.Fleet
	program.Clock
}

func (stressFlags) Kind() string { return "stress" }

func (f stressFlags) Extent() (dataset.Extent, error) {
	return f.Clocked(f.Clock, []string{series.StressTable})
}

func (stressFlags) Generator(e dataset.Extent) dataset.Generator { return series.NewStress(e) }

// inchFlags are those of the dataset inch.
type inchFlags struct {
	program.Fleet
	program.Clock
	Tags   []int64 `required:"" range:"1:2147483647" placeholder:"N" help:"How many values each tag has. Every combination is a series, so --scale is the product."`
	Fields int64   `default:"1" range:"1:1000" help:"Fields of a row."`
}

func (inchFlags) Kind() string { return "inch" }

func (f inchFlags) Extent() (dataset.Extent, error) {
	x, err := f.Clocked(f.Clock, []string{series.InchTable})
	if err != nil {
		return x, err
	}
	product := int64(1)
	for _, values := range f.Tags {
		if product *= values; product > x.Scale {
			break
		}
	}
	if product != x.Scale {
		return x, command.Mistakef("--tags %s has another number of combinations than --scale %d; make the product the scale.",
			strings.Trim(strings.ReplaceAll(fmt.Sprint(f.Tags), " ", ","), "[]"), x.Scale)
	}
	x.Tags, x.Fields = f.Tags, f.Fields
	return x, nil
}

func (inchFlags) Generator(e dataset.Extent) dataset.Generator {
	return series.NewInch(e, e.Tags, int(e.Fields))
}
