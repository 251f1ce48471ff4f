package format_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"testing"

	"benchbook/benchload/dataset"
	"benchbook/benchload/dataset/devops"
	"benchbook/benchload/dataset/iot"
	"benchbook/benchload/format"
)

// made is a dataset, or one table of it.
type made struct {
	name  string
	table func(table string) dataset.Generator // all tables for an empty name
	names []string
}

// datasets are small ones of every generator of time series.
var datasets = []made{
	{"devops", func(table string) dataset.Generator { return devops.New(extent(table)) }, devops.TableNames()},
	{"iot", func(table string) dataset.Generator {
		e := extent(table)
		e.Scale, e.SeriesCount, e.End = 20, 20, start+900e9
		e.WindowEnd = e.End
		return iot.New(e)
	}, iot.TableNames()},
}

// reference is a table as encoding/csv reads it: the names, then the rows.
func reference(t *testing.T, d made, table string) (names []string, rows [][]string) {
	t.Helper()
	g := d.table(table)
	all, err := csv.NewReader(bytes.NewReader(bytesOf(g, format.NewCSV(g), 64))).ReadAll()
	if err != nil || len(all) < 10 {
		t.Fatalf("%s: %d lines of CSV, error %v", d.name, len(all), err)
	}
	return all[0], all[1:]
}

// kindOf says what a column is: time, tag, or the field of this number.
func kindOf(g dataset.Generator, column int) (isTag bool, field *dataset.Field) {
	table := &g.Tables()[0]
	switch {
	case column == 0:
		return false, nil
	case column <= len(table.Tags):
		return true, nil
	}
	return false, &table.Fields[column-1-len(table.Tags)]
}

// Golden digests: bytes are never to change by accident.
func TestGoldenDigestsOfFormats(t *testing.T) {
	for _, d := range datasets {
		one := d.table(d.names[0])
		all := d.table("")
		for name, f := range map[string]format.Format{
			"csv": format.NewCSV(one), "parquet": format.NewParquet(one), "postgres": format.NewPostgres(one),
			"arrow": format.NewArrow(all), "elasticsearch": format.NewElasticsearch(all), "opentsdb": format.NewOpenTSDB(all),
			"influx": format.NewInflux(all), "rows": format.NewRows(all),
		} {
			g := all
			if name == "csv" || name == "parquet" || name == "postgres" {
				g = one
			}
			sum := sha256.Sum256(bytesOf(g, f, 100))
			if got := hex.EncodeToString(sum[:8]); got != golden[d.name+" "+name] {
				t.Errorf("%q: %q,", d.name+" "+name, got)
			}
		}
	}
}

// golden has the first eight bytes of the SHA-256 of each dataset in each format.
var golden = map[string]string{
	"devops arrow":         "8062bf20c5c6c035",
	"devops csv":           "006d08477d1ee9ce",
	"devops elasticsearch": "2e34c20b61c6d67b",
	"devops influx":        "477faf16856b3684",
	"devops opentsdb":      "242a4d88c6070759",
	"devops parquet":       "56c5b713934a1fb5",
	"devops postgres":      "f50c7afd7d29fe50",
	"devops rows":          "80f30a76a30baa39",
	"iot arrow":            "343ec778404dffe9",
	"iot csv":              "ce3d9673173ab3bf",
	"iot elasticsearch":    "2a818117f9dfc21e",
	"iot influx":           "8bc65a5bbaa74396",
	"iot opentsdb":         "5f158afc6e3218b2",
	"iot parquet":          "b0b46b7a559d71c6",
	"iot postgres":         "999ee36e0ee15371",
	"iot rows":             "58c71d1ca5695a53",
}
