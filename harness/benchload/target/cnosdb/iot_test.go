package cnosdb

import (
	"reflect"
	"strings"
	"testing"

	"benchbook/benchload/query/spec"
	"benchbook/benchload/target"
)

func ask(form string) spec.Query {
	return spec.Query{Form: form, Type: form, StartNS: 1640995200e9, EndNS: 1641002400e9, BucketNS: 600e9, Fleet: "South", Limit: 0.9}
}

func TestFormsAreAskedInSQL(t *testing.T) {
	const within = `time >= TIMESTAMP '2022-01-01T00:00:00Z' AND time < TIMESTAMP '2022-01-01T02:00:00Z'`
	for form, words := range map[string]string{
		spec.LastLoc:             `FROM readings WHERE fleet = 'South' AND name IS NOT NULL AND ` + within + `) AS ranked WHERE place = 1`,
		spec.LowFuel:             `FROM diagnostics WHERE fuel_state <= 0.9 AND fleet`,
		spec.HighLoad:            `WHERE place = 1 AND current_load >= 0.9 * load_capacity`,
		spec.StationaryTrucks:    `GROUP BY name HAVING avg(velocity) < 0.9`,
		spec.LongDrivingSessions: `date_bin(INTERVAL '600 second', time, TIMESTAMP '1970-01-01T00:00:00Z')`,
		spec.AvgLoad:             within + ` GROUP BY fleet, model`,
	} {
		text, err := Statement(ask(form))
		if err != nil || !strings.Contains(text, words) {
			t.Errorf("%s is asked as %s, error %v", form, text, err)
		}
	}
}

func TestRowsOfFormsHaveOneValueEach(t *testing.T) {
	body := `[{"name":"truck_1","at":"2022-01-01T00:00:00.000000001","latitude":12.5}]`
	rows, err := (&CnosDB{}).Rows(ask(spec.LastLoc), []byte(body))
	if want := []target.Row{{TimeNS: 1640995200000000001, Host: "truck_1 latitude", Value: 12.5}}; err != nil || !reflect.DeepEqual(rows, want) {
		t.Errorf("the rows are %+v, error %v", rows, err)
	}
	rows, err = (&CnosDB{}).Rows(ask(spec.AvgLoad), []byte(`[{"fleet":"East","model":"F_150","mean_load":1.5}]`))
	if want := []target.Row{{Host: "East F_150", Value: 1.5}}; err != nil || !reflect.DeepEqual(rows, want) {
		t.Errorf("the rows are %+v, error %v", rows, err)
	}
	if rows, err = (&CnosDB{}).Rows(ask(spec.AvgLoad), nil); err != nil || rows != nil {
		t.Errorf("an empty answer gives %+v, error %v", rows, err)
	}
}
