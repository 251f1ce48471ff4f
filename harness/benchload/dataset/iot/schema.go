package iot

import (
	"benchbook/benchload/dataset"
	"benchbook/benchload/walk"
)

// table is one measurement of a truck.
type table struct {
	name    string
	columns []column
}

// column is a field and how its values come to be.
type column struct {
	field dataset.Field
	make  maker
}

// maker makes the values of one field.
type maker interface {
	// fill generates the values of some ticks; room is as long as the smallest aligned
	// stretch around them, plus one.
	fill(key uint64, tick int64, room []int64, skip int, values []int64, stride, ticks int)
}

// tables are the tables in the order of rows, their fields in the order of the
// use case.
var tables = []table{
	{"readings", []column{
		roaming("latitude", 5, degree, -90, 90, 0, 90),
		roaming("longitude", 5, degree, -180, 180, 0, 180),
		roaming("elevation", 0, wide, 0, 5000, 0, 500),
		roaming("velocity", 0, wide, 0, 100, 0, 0),
		roaming("heading", 0, narrow, 0, 360, 0, 360),
		roaming("grade", 0, narrow, 0, 100, 0, 0),
		roaming("fuel_consumption", 1, narrow, 0, 50, 25, 25),
		roaming("load_capacity", 0, 1, 1500, 5000, 1500, 1500),
		roaming("fuel_capacity", 0, 1, 150, 300, 150, 150),
		roaming("nominal_fuel_consumption", 0, 1, 12, 29, 12, 12),
	}},
	{"diagnostics", []column{
		{short("fuel_state", 1), newTank()},
		{short("current_load", 0), load{}},
		whole(roaming("status", 0, 1, 0, 5, 0, 0)),
		roaming("load_capacity", 0, 1, 1500, 5000, 1500, 1500),
		roaming("fuel_capacity", 0, 1, 150, 300, 150, 150),
		roaming("nominal_fuel_consumption", 0, 1, 12, 29, 12, 12),
	}},
}

// Deviations of the steps: those of uniform steps up to 0.005, 10 and 5 both
// ways, which is the reach divided by the root of three.
const (
	degree = 0.0028867513459481288
	wide   = 5.773502691896258
	narrow = 2.886751345948129
)

func short(name string, places uint8) dataset.Field {
	return dataset.Field{Name: name, Kind: dataset.Short, Places: places}
}

// whole makes an integer field of a float without places.
func whole(c column) column {
	c.field.Kind = dataset.Integer
	return c
}

// border is how far outside the range the fold lies, in deviations of a step: a
// walk that is clamped to its range is, seen from afar, one that is reflected
// this far behind it (the mean overshoot of normal steps).
const border = 0.5826

// fine is the number of binary places that a walk has below the printed ones.
const fine = 8

// walker is a walk in a range, stopped at its ends.
type walker struct {
	walk   walk.Walk
	low    int64  // in printed units, as all that follow
	top    int64  // the range, in fine units
	margin int64  // from the fold to the range, in fine units
	start  uint64 // the least start, as a fraction of 2^63 of the fold
	spread uint64 // how far above it the walk may start, as the same
}

// roaming is a field that walks between low and high, with a start between the
// last two.
func roaming(name string, places uint8, deviation, low, high, startLow, startHigh float64) column {
	unit := 1.0
	for range places {
		unit *= 10
	}
	margin := int64(border * deviation * unit * (1 << fine))
	top := int64((high - low) * unit * (1 << fine))
	limit := top + 2*margin
	// The conversions keep the compiler from fusing operations, so that the laws
	// are the same on all architectures.
	perUnit := float64(unit * (1 << fine) * (1 << 63) / float64(limit))
	outside := float64(float64(margin) * (1 << 63) / float64(limit))
	return column{short(name, places), &walker{
		walk:   walk.NewFolded(0, deviation, float64(limit)/(unit*(1<<fine)), uint64(limit)),
		low:    int64(low * unit),
		top:    top,
		margin: margin,
		start:  uint64(outside + float64((startLow-low)*perUnit)),
		spread: uint64((startHigh - startLow) * perUnit),
	}}
}
