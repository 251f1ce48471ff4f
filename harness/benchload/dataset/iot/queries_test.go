package iot

import (
	"bytes"
	"reflect"
	"testing"
	"time"

	"benchbook/benchload/dataset"
	"benchbook/benchload/query/spec"
)

func days(n int64) dataset.Extent {
	start := time.Date(2022, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano()
	end := start + n*int64(24*time.Hour)
	return dataset.Extent{Seed: 123, Scale: 100, Start: start, End: end, WindowStart: start, WindowEnd: end,
		SeriesCount: 100, Interval: int64(50 * time.Second)}
}

func TestQueriesRepeatAndDoNotDependOnOtherTypes(t *testing.T) {
	all, err := Queries(days(3), 7, QueryTypes(), 5)
	if err != nil || len(all) != 30 {
		t.Fatalf("%d queries, error %v", len(all), err)
	}
	alone, err := Queries(days(3), 7, []string{spec.HighLoad}, 5)
	if err != nil {
		t.Fatal(err)
	}
	for i := range alone {
		same := all[10+i]
		same.ID = alone[i].ID
		if !reflect.DeepEqual(same, alone[i]) {
			t.Errorf("query %d alone is %+v, with others %+v", i, alone[i], same)
		}
	}
}

func TestQueriesSurviveTheirFile(t *testing.T) {
	all, _ := Queries(days(3), 7, QueryTypes(), 5)
	var file bytes.Buffer
	if err := spec.Write(&file, all); err != nil {
		t.Fatal(err)
	}
	again, _, err := spec.Read(&file)
	if err != nil || !reflect.DeepEqual(all, again) {
		t.Errorf("read again they differ, error %v", err)
	}
}

func TestWindowsLieInTheDatasetAndBucketsAreWhole(t *testing.T) {
	for _, extent := range []dataset.Extent{days(3), days(1)} {
		all, _ := Queries(extent, 7, QueryTypes(), 50)
		for _, q := range all {
			// The first bucket of a session may begin before the dataset, as buckets are aligned.
			if q.StartNS < extent.WindowStart-q.BucketNS || q.EndNS > extent.WindowEnd || q.EndNS <= q.StartNS {
				t.Errorf("%s asks for %d to %d", q.Type, q.StartNS, q.EndNS)
			}
			if q.Form == spec.LongDrivingSessions && ((q.EndNS-q.StartNS)%q.BucketNS != 0 || q.StartNS%q.BucketNS != 0 || q.Limit != 22) {
				t.Errorf("a session asks for %+v", q)
			}
		}
	}
}

func TestAnUnknownTypeNamesTheNearest(t *testing.T) {
	if _, err := Queries(days(1), 7, []string{"last-lok"}, 1); err == nil {
		t.Error("an unknown type is taken")
	}
}
