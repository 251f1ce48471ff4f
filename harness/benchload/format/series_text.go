package format

// seriesText keeps a text for each series and table, such as its tags, as far
// as there is room. It belongs to one goroutine.
type seriesText struct {
	tables  int64
	compose func(text []byte, series int64, table, without int) []byte
	kept    map[int64][]byte
	scratch []byte
}

// newSeriesText keeps what compose makes; without is the tag to leave out, or -1.
func newSeriesText(tables int, compose func(text []byte, series int64, table, without int) []byte) seriesText {
	return seriesText{tables: int64(tables), compose: compose, kept: map[int64][]byte{}}
}

// of is the text of a series in a table, without one tag or with all (-1).
func (t *seriesText) of(series int64, table, without int) []byte {
	key := series*t.tables + int64(table)
	if without < 0 {
		if text, ok := t.kept[key]; ok {
			return text
		}
	}
	t.scratch = t.compose(t.scratch[:0], series, table, without)
	if without >= 0 || len(t.kept) >= maxSeriesCached {
		return t.scratch
	}
	text := append([]byte(nil), t.scratch...)
	t.kept[key] = text
	return text
}
