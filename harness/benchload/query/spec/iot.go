package spec

import "fmt"

// Forms of the queries of the iot use case. They never ask for rows without the name of
// their truck, because systems treat an absent tag differently.
const (
	LastLoc             = "last-loc"              // the last place of each truck of a fleet
	LowFuel             = "low-fuel"              // the last fuel state at or below Limit of each truck of a fleet
	HighLoad            = "high-load"             // last load and capacity of the trucks of a fleet that are loaded to Limit of it
	StationaryTrucks    = "stationary-trucks"     // mean velocity of the trucks of a fleet that are below Limit
	LongDrivingSessions = "long-driving-sessions" // the trucks of a fleet that drove in more than Limit buckets, and in how many
	AvgLoad             = "avg-load"              // mean load as a share of the capacity, by fleet and model
)

// Answer is the shape of the answer of a form.
type Answer struct {
	Table  string
	Keys   []string // tags that tell its rows apart
	Values []string // columns with a number
	Timed  bool     // each row has the time of a row of the data
}

// Answers are the shapes by form.
var Answers = map[string]Answer{
	LastLoc:             {"readings", []string{"name"}, []string{"latitude", "longitude"}, true},
	LowFuel:             {"diagnostics", []string{"name"}, []string{"fuel_state"}, true},
	HighLoad:            {"diagnostics", []string{"name"}, []string{"current_load", "load_capacity"}, true},
	StationaryTrucks:    {"readings", []string{"name"}, []string{"mean_velocity"}, false},
	LongDrivingSessions: {"readings", []string{"name"}, []string{"buckets"}, false},
	AvgLoad:             {"diagnostics", []string{"fleet", "model"}, []string{"mean_load"}, false},
}

// Column is what a value is called in an answer: its keys, and its column where
// there are several.
func (a Answer) Column(keys, value string) string {
	if len(a.Values) == 1 {
		return keys
	}
	return keys + " " + value
}

// checkForm returns what is wrong with a query that has a form.
func (q *Query) checkForm() error {
	if _, known := Answers[q.Form]; !known {
		return fmt.Errorf("form is %q, which is none of the iot use case", q.Form)
	}
	if q.Form != AvgLoad && !names.MatchString(q.Fleet) {
		return fmt.Errorf("the fleet %q is not made of letters, digits, points and dashes", q.Fleet)
	}
	if q.Form == LongDrivingSessions && q.BucketNS <= 0 {
		return fmt.Errorf("bucket_ns is %d; it must be above zero", q.BucketNS)
	}
	if q.EndNS <= q.StartNS {
		return fmt.Errorf("end_ns %d is not after start_ns %d", q.EndNS, q.StartNS)
	}
	return nil
}
