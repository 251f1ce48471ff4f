// Package dataset says what a generated dataset is: its tables, its extent, and
// the one interface that every generator satisfies.
package dataset

// Kind is the type of a field.
type Kind uint8

// The kinds of fields.
const (
	// Integer fields hold their value.
	Integer Kind = iota
	// Decimal fields hold their value times 10^DecimalPlaces.
	Decimal
	// Short fields are floats that hold their value times 10^Places, and are
	// written with no more digits than they need: 0.5, 124.
	Short
)

// DecimalPlaces is the number of digits after the point of a decimal field:
// a value in 0 … 100 then has 15 to 16 significant digits, as a float64 has.
const DecimalPlaces = 14

// DecimalUnit is one in a decimal field.
const DecimalUnit = 100_000_000_000_000

// Field is one column of values.
type Field struct {
	Name   string
	Kind   Kind
	Places uint8 // of a short field: 0, 1 or 5
}

// Table is what InfluxDB calls a measurement: rows with the same tags and fields.
type Table struct {
	Name   string
	Tags   []string
	Fields []Field
}
