package format

import "benchbook/benchload/dataset"

// listed appends lines of a block that lists its rows.
func (r *influxLines) listed(text []byte, block *dataset.Block, from, end int64) []byte {
	tick := int32(-1 << 31)
	for i := from; i < end; i++ {
		row := &block.Listed[i]
		if row.Tick != tick {
			tick = row.Tick
			r.setTime(r.format.extent.Time(block.Tick + int64(tick)))
		}
		text = room(text, r.format.longest)
		series, values := block.Series+int64(row.Series), block.Values[row.At:]
		if row.NoField < 0 && row.NoTag < 0 {
			text = r.line(text, series, int(row.Table), values)
		} else {
			text = r.gapped(text, series, row, values)
		}
	}
	return text
}

// gapped appends a line without one of its tags or fields, or both. There must
// be room for the longest.
func (r *influxLines) gapped(text []byte, series int64, row *dataset.Row, values []int64) []byte {
	f := r.format
	table := int(row.Table)
	fields := f.generator.Tables()[table].Fields
	text = f.appendHead(text, series, table, int(row.NoTag))
	text = text[:len(text)-len(fields[0].Name)-1] // the fields are named below
	values = values[f.places[table]:][:len(fields)]
	for i := range fields {
		if i == int(row.NoField) {
			continue
		}
		text = append(append(text, fields[i].Name...), '=')
		text = append(appendValue(text, &fields[i], values[i]), ',')
	}
	at := len(text) - 1 // over the last comma
	text = text[:cap(text)]
	at += copy(text[at:], r.end[0][:r.endSize])
	return text[:at]
}

// appendValue appends a value as line protocol has it. There must be room for it.
func appendValue(text []byte, field *dataset.Field, value int64) []byte {
	at := len(text)
	text = text[:cap(text)]
	switch field.Kind {
	case dataset.Integer:
		at = putInteger(text, at, value)
		text[at] = 'i'
		at++
	case dataset.Short:
		at = putShort(text, at, value, field.Places)
	default:
		at = putDecimal(text, at, value)
	}
	return text[:at]
}
