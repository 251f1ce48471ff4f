package load_test

import (
	"context"
	"io"
	"testing"

	"benchbook/benchload/dataset"
	"benchbook/benchload/dataset/devops"
	"benchbook/benchload/drive"
	"benchbook/benchload/event"
	"benchbook/benchload/format"
	"benchbook/benchload/load"
	"benchbook/benchload/measure"
	"benchbook/benchload/stream"
	"benchbook/benchload/target"
	"benchbook/benchload/target/null"
)

// typed is a target that takes typed rows and cannot be reached.
type typed struct{ null.Null }

func (typed) Format(g dataset.Generator) (format.Format, error) { return format.NewRows(g), nil }
func (typed) Prepare() error                                    { panic("a server is asked") }
func (typed) Holds() (bool, error)                              { panic("a server is asked") }
func (typed) Connect() (target.Conn, error)                     { panic("a client is made") }

func TestADryRunReadsEveryRowAndAsksNoServer(t *testing.T) {
	for name, tested := range map[string]target.Target{"typed rows": typed{}, "line protocol": null.Null{}} {
		dry := load.NewDry(tested)
		generator := devops.New(extentOf(2000))
		made, err := dry.Format(generator)
		if err != nil {
			t.Fatal(err)
		}
		if holds, err := dry.Holds(); holds || err != nil || dry.Prepare() != nil {
			t.Errorf("%s: holds %v, error %v", name, holds, err)
		}
		source := load.NewGenerated(stream.New(generator, made, stream.Options{PieceRows: 100}), dataset.Rows(generator))
		run := measure.NewRun(event.NewWriter(io.Discard), 2, false, "write")
		summary, _, err := load.Work(source, dry, drive.Pace{Workers: 2}, drive.Rule{}).Run(context.Background(), run)
		if err != nil {
			t.Fatal(err)
		}
		if summary.Rows != dataset.Rows(generator) || summary.Values != dataset.Values(generator) || summary.Errors != 0 {
			t.Errorf("%s: the summary is %+v", name, summary)
		}
	}
}
