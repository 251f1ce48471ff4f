package format

import (
	"strconv"

	"benchbook/benchload/dataset"
)

// appendJSONTags appends the tags of a series as members of a JSON object,
// without one of them or with all (-1). No tag needs to be escaped.
func appendJSONTags(text []byte, g dataset.Generator, series int64, table, without int) []byte {
	comma := false
	for tag, name := range g.Tables()[table].Tags {
		if tag == without {
			continue
		}
		if comma {
			text = append(text, ',')
		}
		comma = true
		text = append(strconv.AppendQuote(text, name), ':', '"')
		text = append(g.AppendTag(text, series, table, tag), '"')
	}
	return text
}

// appendNumber appends a value as a JSON number. There must be room for 32 bytes.
func appendNumber(text []byte, field *dataset.Field, value int64) []byte {
	at := len(text)
	text = text[:cap(text)]
	switch field.Kind {
	case dataset.Integer:
		at = putInteger(text, at, value)
	case dataset.Short:
		at = putShort(text, at, value, field.Places)
	default:
		at = putDecimal(text, at, value)
	}
	return text[:at]
}

// placesOf is where the values of each table begin among those of a series.
func placesOf(tables []dataset.Table) []int {
	places, place := make([]int, len(tables)), 0
	for i := range tables {
		places[i] = place
		place += len(tables[i].Fields)
	}
	return places
}
