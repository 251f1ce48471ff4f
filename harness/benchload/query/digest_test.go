package query

import (
	"math"
	"testing"

	"benchbook/benchload/event"
	"benchbook/benchload/query/spec"
)

func TestAnswersInAnyOrderAndWithRoundedSumsAreAlike(t *testing.T) {
	right := `{"series":[{"host":"host_1","values":[["2016-01-01T00:00:00Z",1.5],[1451606400000000000,-3e2]]},{"host":"host_2","values":[[7,0.1]]}]}`
	for _, equal := range []string{
		right,
		`{"series":[{"host":"host_2","values":[[0.1000000000000001,7]]},{"host":"host_1","values":[["2016-01-01T00:00:00Z",1.5],[1451606400000000000,-300]]}]}`,
	} {
		if !alike(digestOf([]byte(right)), digestOf([]byte(equal))) {
			t.Errorf("%s differs from %s", equal, right)
		}
	}
	for _, other := range []string{
		"", `{"series":[]}`,
		`{"series":[{"host":"host_1","values":[["2016-01-01T00:00:00Z",1.5],[1451606400000000000,-3e2]]}]}`,
		`{"series":[{"host":"host_1","values":[["2016-01-01T00:00:00Z",1.6],[1451606400000000000,-3e2]]},{"host":"host_2","values":[[7,0.1]]}]}`,
		`{"series":[{"host":"host_1","values":[["2016-01-01T00:00:00Z",1.5],[1451606400000000001,-3e2]]},{"host":"host_2","values":[[7,0.1]]}]}`,
		`{"series":[{"host":"host_1","values":[["2016-01-01T00:00:00Z",1.5],[1451606400000000000,3e2]]},{"host":"host_2","values":[[7,0.1]]}]}`,
		`{"series":[{"host":"host_1","values":[["2016-01-01T00:00:00Z",1.5],[1451606400000000000,-3e2]]},{"host":"host_3","values":[[7,0.1]]}]}`,
		`{"series":[{"host":"host_1","values":[["2016-01-01T00:00:00Z",1.5],[1451606400000000000,-3e2]]},{"host":"host_2","values":[[7,null]]}]}`,
	} {
		if alike(digestOf([]byte(right)), digestOf([]byte(other))) {
			t.Errorf("%s is taken for %s", other, right)
		}
	}
}

func TestNumbersAreReadAsTheyAre(t *testing.T) {
	for text, want := range map[string]event.Digest{
		"1.25":                   {Numbers: 1, Sum: 1.25, Size: 1.25},
		"[-1.5,2]":               {Numbers: 2, Sum: 0.5, Size: 3.5},
		"1e-3\t2E+2":             {Numbers: 2, Sum: 200.001, Size: 200.001},
		"0.000":                  {Numbers: 1},
		"999999999.5":            {Numbers: 1, Sum: 999999999.5, Size: 999999999.5},
		"0.30000000000000000004": {Numbers: 1, Sum: 0.3, Size: 0.3},
	} {
		got := digestOf([]byte(text))
		if !alike(got, want) || got.Exact != 0 {
			t.Errorf("%s is %+v, want %+v", text, got, want)
		}
	}
	if got := digestOf([]byte("host_12")); got.Numbers != 0 || got.Exact == 0 {
		t.Errorf("a name is %+v", got)
	}
}

func TestDigestsOfEachQueryAreCounted(t *testing.T) {
	seen := NewSeen([]spec.Query{{ID: 7}, {ID: 8}, {ID: 9}})
	for _, body := range []string{"1", "1", "", "2", "3", "4"} {
		seen.add(0, []byte(body))
	}
	seen.add(2, []byte("5"))
	found := map[int64][]int64{}
	for _, one := range seen.Event().Answers {
		found[one.ID] = append(found[one.ID], one.Answers)
	}
	want := map[int64][]int64{7: {2, 1, 1, 2}, 9: {1}} // two of yet other digests, and nothing of a query that was not asked
	if len(found) != 2 || len(found[7]) != 4 || found[7][0] != 2 || found[7][3] != 2 || found[9][0] != want[9][0] {
		t.Errorf("seen are %v, want %v", found, want)
	}
}

func FuzzDigest(f *testing.F) {
	f.Add([]byte(`[1.5e-3,"host_1",-2,18446744073709551616,1e999,.5.,-]`))
	f.Fuzz(func(t *testing.T, body []byte) {
		if d := digestOf(body); d.Numbers < 0 || d.Numbers > int64(len(body)) || math.IsInf(d.Size, 0) || math.IsNaN(d.Sum) {
			t.Errorf("%q is %+v", body, d)
		}
	})
}
