package iot

import (
	"strconv"

	"benchbook/benchload/walk"
)

// Streams of random numbers, so that adding a draw to one does not move
// another. They are part of what the bytes depend on: never renumber.
const (
	streamTags = iota
	streamWalks
	streamStarts
	streamLoads
	streamMissing
	streamFates
	streamNames
)

// tags are the tags of both tables.
var tags = []string{"name", "fleet", "driver", "model", "device_version"}

// choices are the values of the tags after the name.
var choices = [][]string{
	{"East", "West", "North", "South"},
	{"Derek", "Rodney", "Albert", "Andy", "Seth", "Trish"},
	{"F_150", "G_2000", "H_2"},
	{"v1_0", "v1_5", "v2_0", "v2_3"},
}

// appendTag appends a tag of a truck by its place.
func appendTag(text []byte, seed uint64, series int64, tag int) []byte {
	if tag == 0 {
		return strconv.AppendInt(append(text, "truck_"...), series, 10)
	}
	return append(text, choice(seed, series, tag)...)
}

// choice is a tag of a truck that is not its name.
func choice(seed uint64, series int64, tag int) string {
	from := choices[tag-1]
	key := walk.Key(seed, uint64(series), streamTags)
	return from[walk.Below(key, uint64(tag), uint64(len(from)))]
}
