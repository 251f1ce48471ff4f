package influx

import (
	"reflect"
	"strings"
	"testing"

	"benchbook/benchload/query/spec"
	"benchbook/benchload/target"
)

var window = spec.Query{StartNS: 1640995200e9, EndNS: 1641002400e9, BucketNS: 600e9, Fleet: "South", Limit: 0.9}

func ask(form string) spec.Query {
	q := window
	q.Form, q.Type = form, form
	return q
}

func TestFormsAreAskedInInfluxQL(t *testing.T) {
	const within = `time >= '2022-01-01T00:00:00Z' AND time < '2022-01-01T02:00:00Z'`
	for form, words := range map[string]string{
		spec.LastLoc:             `FROM "readings" WHERE "fleet" = 'South' AND "name" =~ /./ AND ` + within + ` GROUP BY "name" ORDER BY time DESC LIMIT 1`,
		spec.LowFuel:             `WHERE "fuel_state" <= 0.9 AND "fleet"`,
		spec.HighLoad:            `WHERE "current_load" >= 0.9 * "load_capacity" GROUP BY "name" ORDER BY time DESC`,
		spec.StationaryTrucks:    `WHERE "mean_velocity" < 0.9 GROUP BY "name"`,
		spec.LongDrivingSessions: `GROUP BY time(10m), "name") WHERE "mean_velocity" > 1 GROUP BY "name") WHERE "buckets" > 0.9`,
		spec.AvgLoad:             within + ` GROUP BY "name", "fleet", "model") GROUP BY "fleet", "model"`,
	} {
		if text := Statement(ask(form)); !strings.Contains(text, words) {
			t.Errorf("%s is asked as %s", form, text)
		}
	}
}

func TestRowsOfFormsHaveOneValueEach(t *testing.T) {
	body := `{"results":[{"series":[{"name":"readings","tags":{"name":"truck_1"},"columns":["time","latitude","longitude"],` +
		`"values":[["2022-01-01T00:00:00.000000001Z",12.5,null]]}]}]}`
	rows, err := (&Influx{}).Rows(ask(spec.LastLoc), []byte(body))
	if want := []target.Row{{TimeNS: 1640995200000000001, Host: "truck_1 latitude", Value: 12.5}}; err != nil || !reflect.DeepEqual(rows, want) {
		t.Errorf("the rows are %+v, error %v", rows, err)
	}
	body = `{"results":[{"series":[{"tags":{"fleet":"East","model":"F_150"},"columns":["time","mean_load"],"values":[["1970-01-01T00:00:00Z",1.5]]}]}]}`
	rows, err = (&Influx{}).Rows(ask(spec.AvgLoad), []byte(body))
	if want := []target.Row{{Host: "East F_150", Value: 1.5}}; err != nil || !reflect.DeepEqual(rows, want) {
		t.Errorf("the rows are %+v, error %v", rows, err)
	}
	if _, err = (&Influx{}).Rows(ask(spec.LastLoc), []byte(body)); err == nil {
		t.Error("a row of another shape is read")
	}
}
