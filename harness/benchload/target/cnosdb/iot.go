package cnosdb

import (
	"encoding/json"
	"fmt"
	"strings"

	"benchbook/benchload/query/spec"
	"benchbook/benchload/target"
)

// iotStatement is a query of the iot use case in the SQL of CnosDB. The columns
// of its answer are the keys, the time as "at" where it counts, and the values.
func iotStatement(q spec.Query) (string, error) {
	within := fmt.Sprintf("time >= TIMESTAMP '%s' AND time < TIMESTAMP '%s'", moment(q.StartNS), moment(q.EndNS))
	named := fmt.Sprintf("fleet = '%s' AND name IS NOT NULL AND %s", q.Fleet, within)
	last := func(columns, table, where string) string {
		return fmt.Sprintf("SELECT name, time AS at, %s FROM (SELECT name, time, %s, row_number() OVER (PARTITION BY name ORDER BY time DESC) AS place "+
			"FROM %s WHERE %s) AS ranked WHERE place = 1", columns, columns, table, where)
	}
	switch q.Form {
	case spec.LastLoc:
		return last("latitude, longitude", "readings", named), nil
	case spec.LowFuel:
		return last("fuel_state", "diagnostics", fmt.Sprintf("fuel_state <= %v AND %s", q.Limit, named)), nil
	case spec.HighLoad:
		return fmt.Sprintf("%s AND current_load >= %v * load_capacity", last("current_load, load_capacity", "diagnostics", named), q.Limit), nil
	case spec.StationaryTrucks:
		return fmt.Sprintf("SELECT name, avg(velocity) AS mean_velocity FROM readings WHERE %s GROUP BY name HAVING avg(velocity) < %v", named, q.Limit), nil
	case spec.LongDrivingSessions:
		length, err := interval(q.BucketNS)
		if err != nil {
			return "", err
		}
		bucket := "date_bin(" + length + ", time, TIMESTAMP '1970-01-01T00:00:00Z')"
		return fmt.Sprintf("SELECT name, count(mean_velocity) AS buckets FROM (SELECT name, %s AS bucket, avg(velocity) AS mean_velocity FROM readings "+
			"WHERE %s GROUP BY name, %s) AS means WHERE mean_velocity > 1 GROUP BY name HAVING count(mean_velocity) > %v", bucket, named, bucket, q.Limit), nil
	}
	return "SELECT fleet, model, avg(current_load / load_capacity) AS mean_load FROM diagnostics WHERE fleet IS NOT NULL AND model IS NOT NULL AND " +
		within + " GROUP BY fleet, model", nil
}

// iotRows reads the answer of such a query: one row a value; what is null is
// left out of an answer.
func iotRows(q spec.Query, body []byte) ([]target.Row, error) {
	shape := spec.Answers[q.Form]
	decoder := json.NewDecoder(strings.NewReader(string(body)))
	decoder.UseNumber()
	var found []map[string]any
	if err := decoder.Decode(&found); err != nil {
		return nil, fmt.Errorf("the answer is not a list of rows: %w", err)
	}
	var rows []target.Row
	for _, line := range found {
		keys := make([]string, len(shape.Keys))
		for i, key := range shape.Keys {
			keys[i], _ = line[key].(string)
		}
		var at int64
		if shape.Timed {
			text, _ := line["at"].(string)
			var err error
			if at, err = readMoment(text); err != nil {
				return nil, err
			}
		}
		for _, name := range shape.Values {
			number, there := line[name].(json.Number)
			if !there {
				continue
			}
			value, err := number.Float64()
			if err != nil {
				return nil, fmt.Errorf("a row of the answer has the value %s: %w", number, err)
			}
			rows = append(rows, target.Row{TimeNS: at, Host: shape.Column(strings.Join(keys, " "), name), Value: value})
		}
	}
	return rows, nil
}
