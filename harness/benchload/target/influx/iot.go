package influx

import (
	"encoding/json"
	"fmt"
	"strings"

	"benchbook/benchload/query/spec"
	"benchbook/benchload/target"
)

// iotStatement is a query of the iot use case in InfluxQL.
func iotStatement(q spec.Query) string {
	within := fmt.Sprintf("time >= '%s' AND time < '%s'", moment(q.StartNS), moment(q.EndNS))
	named := fmt.Sprintf(`"fleet" = '%s' AND "name" =~ /./ AND %s`, q.Fleet, within)
	switch q.Form {
	case spec.LastLoc:
		return `SELECT "latitude", "longitude" FROM "readings" WHERE ` + named + ` GROUP BY "name" ORDER BY time DESC LIMIT 1`
	case spec.LowFuel:
		return fmt.Sprintf(`SELECT "fuel_state" FROM "diagnostics" WHERE "fuel_state" <= %v AND %s GROUP BY "name" ORDER BY time DESC LIMIT 1`,
			q.Limit, named)
	case spec.HighLoad:
		return fmt.Sprintf(`SELECT "current_load", "load_capacity" FROM (SELECT "current_load", "load_capacity" FROM "diagnostics" `+
			`WHERE %s GROUP BY "name" ORDER BY time DESC LIMIT 1) WHERE "current_load" >= %v * "load_capacity" GROUP BY "name" ORDER BY time DESC`, named, q.Limit)
	case spec.StationaryTrucks:
		return fmt.Sprintf(`SELECT "mean_velocity" FROM (SELECT mean("velocity") AS "mean_velocity" FROM "readings" WHERE %s `+
			`GROUP BY "name") WHERE "mean_velocity" < %v GROUP BY "name"`, named, q.Limit)
	case spec.LongDrivingSessions:
		return fmt.Sprintf(`SELECT "buckets" FROM (SELECT count("mean_velocity") AS "buckets" FROM (SELECT mean("velocity") AS "mean_velocity" `+
			`FROM "readings" WHERE %s GROUP BY time(%s), "name") WHERE "mean_velocity" > 1 GROUP BY "name") WHERE "buckets" > %v GROUP BY "name"`,
			named, bucket(q.BucketNS), q.Limit)
	}
	return `SELECT mean("share") AS "mean_load" FROM (SELECT "current_load" / "load_capacity" AS "share" FROM "diagnostics" ` +
		`WHERE "fleet" =~ /./ AND "model" =~ /./ AND ` + within + ` GROUP BY "name", "fleet", "model") GROUP BY "fleet", "model"`
}

// iotRows reads the answer of such a query: one row a value.
func iotRows(q spec.Query, a answer) ([]target.Row, error) {
	shape := spec.Answers[q.Form]
	var rows []target.Row
	for _, r := range a.Results {
		for _, s := range r.Series {
			keys := make([]string, len(shape.Keys))
			for i, key := range shape.Keys {
				keys[i] = s.Tags[key]
			}
			for _, values := range s.Values {
				found, err := iotRow(shape, strings.Join(keys, " "), s.Columns, values)
				if err != nil {
					return nil, err
				}
				rows = append(rows, found...)
			}
		}
	}
	return rows, nil
}

// iotRow reads one line of an answer: the time, then the values.
func iotRow(shape spec.Answer, keys string, columns []string, values []any) ([]target.Row, error) {
	if len(values) != len(columns) || len(columns) != 1+len(shape.Values) {
		return nil, fmt.Errorf("a row of the answer has %d columns and not time and %d values", len(values), len(shape.Values))
	}
	var rows []target.Row
	for i, name := range shape.Values {
		if values[1+i] == nil {
			continue
		}
		number, isNumber := values[1+i].(json.Number)
		if !isNumber {
			return nil, fmt.Errorf("a row of the answer is %v and not a time and numbers", values)
		}
		row := target.Row{Host: shape.Column(keys, name)}
		var err error
		if row.Value, err = number.Float64(); err != nil {
			return nil, fmt.Errorf("a row of the answer has the value %s", number)
		}
		if shape.Timed {
			if row.TimeNS, err = readMoment(values[0]); err != nil {
				return nil, err
			}
		}
		rows = append(rows, row)
	}
	return rows, nil
}
