package program

import (
	"slices"

	"benchbook/benchload/command"
	"benchbook/benchload/dataset"
	"benchbook/benchload/format"
)

// formatOf is a way to write rows.
type formatOf struct {
	name     string
	oneTable bool  // it has one header, and so one table
	batch    int64 // rows of a table in a piece; zero if the output does not show pieces
	make     func(dataset.Generator) format.Format
}

// formats are the ways to write rows; a new one adds an entry.
var formats = []formatOf{
	{"influx", false, 0, func(g dataset.Generator) format.Format { return format.NewInflux(g) }},
	{"csv", true, 0, func(g dataset.Generator) format.Format { return format.NewCSV(g) }},
	{"arrow", false, 8192, func(g dataset.Generator) format.Format { return format.NewArrow(g) }},
	{"parquet", true, 65536, func(g dataset.Generator) format.Format { return format.NewParquet(g) }},
	{"elasticsearch", false, 0, func(g dataset.Generator) format.Format { return format.NewElasticsearch(g) }},
	{"opentsdb", false, 0, func(g dataset.Generator) format.Format { return format.NewOpenTSDB(g) }},
	{"postgres", true, 0, func(g dataset.Generator) format.Format { return format.NewPostgres(g) }},
}

// formatNames returns the names of the formats.
func formatNames() []string {
	names := make([]string, len(formats))
	for i := range formats {
		names[i] = formats[i].name
	}
	return names
}

// newFormat creates a format and chooses the rows of its pieces; zero for any.
func newFormat(name string, generator dataset.Generator, batch int64) (format.Format, int64, error) {
	f := formats[slices.IndexFunc(formats, func(f formatOf) bool { return f.name == name })]
	tables := generator.Tables()
	if f.oneTable && len(tables) != 1 {
		return nil, 0, command.Mistakef("--format %s has one header and so one table; add --table, for example --table %s.",
			name, tables[0].Name)
	}
	const finest = 1000 // nanoseconds
	if e := generator.Extent(); name == "postgres" && (e.Start%finest != 0 || e.Interval%finest != 0) {
		return nil, 0, command.Mistakef("--format postgres has times in whole microseconds, but --start or --interval is finer; change them, or choose another --format.")
	}
	if batch == 0 {
		batch = f.batch
	}
	if f.batch > 0 {
		batch *= int64(len(tables)) // a piece has a batch of each
	}
	return f.make(generator), batch, nil
}
