package format

import (
	"strconv"

	"benchbook/benchload/dataset"
)

// keyRoom is the room for the text between two values. Copying a fixed number
// of bytes is a few moves; copying their exact number is a call.
const keyRoom = 40

// maxSeriesCached is up to how many series the heads of lines are kept; for
// more they are made again for each tick, so that memory does not grow.
const maxSeriesCached = 8192

// joint is what stands before a value: the end of the value before it, and the name.
type joint struct {
	text   [keyRoom]byte
	length uint8
	kind   dataset.Kind
	places uint8
}

// Influx is the line protocol of InfluxDB, with times in nanoseconds.
type Influx struct {
	generator dataset.Generator
	extent    dataset.Extent
	tables    [][]joint
	places    []int    // of the first value of each table
	first     int64    // series of heads[0]
	heads     [][]byte // of (series, table), if there are not too many series
	longest   int      // no line is longer
}

// NewInflux prepares the line protocol of a dataset.
func NewInflux(generator dataset.Generator) *Influx {
	f := &Influx{generator: generator, extent: generator.Extent()}
	place := 0
	for _, table := range generator.Tables() {
		joints := make([]joint, len(table.Fields))
		end := ""
		for i, field := range table.Fields {
			text := end + field.Name + "="
			if i == 0 {
				text = ""
			}
			if len(text) > keyRoom {
				panic("format: the field name " + field.Name + " is too long")
			}
			joints[i].length = uint8(copy(joints[i].text[:], text))
			joints[i].kind, joints[i].places = field.Kind, field.Places
			end = ","
			if field.Kind == dataset.Integer {
				end = "i,"
			}
		}
		f.tables = append(f.tables, joints)
		f.places = append(f.places, place)
		place += len(joints)
		f.longest = max(f.longest, len(joints)*(keyRoom+24)+1024)
	}
	if f.extent.SeriesCount <= maxSeriesCached {
		f.first = f.extent.SeriesFirst
		for s := range f.extent.SeriesCount {
			for table := range f.tables {
				f.heads = append(f.heads, f.appendHead(nil, f.extent.SeriesFirst+s, table, -1))
			}
		}
	}
	return f
}

// appendHead appends a line up to its first value, without one tag or with all.
func (f *Influx) appendHead(text []byte, series int64, table, without int) []byte {
	t := &f.generator.Tables()[table]
	text = append(text, t.Name...)
	for tag, name := range t.Tags {
		if tag == without {
			continue
		}
		text = append(text, ',')
		text = append(text, name...)
		text = append(text, '=')
		text = f.generator.AppendTag(text, series, table, tag)
	}
	text = append(text, ' ')
	text = append(text, t.Fields[0].Name...)
	return append(text, '=')
}

// Header returns nothing: line protocol has no header.
func (f *Influx) Header() []byte { return nil }

// Renderer creates a renderer for one goroutine.
func (f *Influx) Renderer() Renderer { return &influxLines{format: f} }

// influxLines is the renderer of Influx.
type influxLines struct {
	format  *Influx
	scratch []byte
	end     [2][32]byte // of a line, after a decimal and after an integer
	endSize int         // of the first; the second is one longer
}

// Finish does nothing: a piece has no end.
func (r *influxLines) Finish(text []byte) []byte { return text }

// Append appends lines.
func (r *influxLines) Append(text []byte, block *dataset.Block, from, end int64) []byte {
	if block.Listed != nil {
		return r.listed(text, block, from, end)
	}
	tables := int64(block.Tables)
	perTick := int64(block.Count) * tables
	for row := from; row < end; {
		tick := row / perTick
		r.setTime(r.format.extent.Time(block.Tick + tick))
		last := min(end, (tick+1)*perTick)
		for row < last {
			series := row % perTick / tables
			values := block.At(int(tick), int(series))
			for table := row % tables; table < tables && row < last; table++ {
				text = room(text, r.format.longest)
				text = r.line(text, block.Series+series, int(table), values)
				row++
			}
		}
	}
	return text
}

// setTime prepares the ends of the lines of a tick.
func (r *influxLines) setTime(time int64) {
	end := append(r.end[1][:0], 'i', ' ')
	end = strconv.AppendInt(end, time, 10)
	end = append(end, '\n')
	r.endSize = copy(r.end[0][:], end[1:])
}

// line appends one line. There must be room for the longest.
func (r *influxLines) line(text []byte, series int64, table int, values []int64) []byte {
	f := r.format
	var head []byte
	if f.heads != nil {
		head = f.heads[int(series-f.first)*len(f.tables)+table]
	} else {
		r.scratch = f.appendHead(r.scratch[:0], series, table, -1)
		head = r.scratch
	}
	at := len(text)
	text = text[:cap(text)]
	at += copy(text[at:], head)
	joints := f.tables[table]
	values = values[f.places[table]:][:len(joints)]
	kind := dataset.Integer
	for i := range joints {
		j := &joints[i]
		*(*[keyRoom]byte)(text[at:]) = j.text
		at += int(j.length)
		kind = j.kind
		switch kind {
		case dataset.Integer:
			at = putInteger(text, at, values[i])
		case dataset.Short:
			at = putShort(text, at, values[i], j.places)
		default:
			at = putDecimal(text, at, values[i])
		}
	}
	if kind == dataset.Integer {
		*(*[32]byte)(text[at:]) = r.end[1]
		return text[:at+r.endSize+1]
	}
	*(*[32]byte)(text[at:]) = r.end[0]
	return text[:at+r.endSize]
}
