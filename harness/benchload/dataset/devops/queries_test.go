package devops_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"benchbook/benchload/dataset/devops"
	"benchbook/benchload/query/spec"
)

func TestQueriesLieInsideTheDataset(t *testing.T) {
	e := extent(10, 8640)
	queries, err := devops.Queries(e, 5, devops.QueryTypes(), 200)
	if err != nil {
		t.Fatal(err)
	}
	aligned := 0
	for i, q := range queries {
		if q.ID != int64(i) {
			t.Errorf("query %d has the id %d", i, q.ID)
		}
		if q.StartNS < e.Start || q.EndNS > e.End || q.EndNS <= q.StartNS {
			t.Errorf("query %d asks from %d to %d", i, q.StartNS, q.EndNS)
		}
		if q.StartNS%q.BucketNS == 0 && q.Type != "groupby" {
			aligned++
		}
		sorted := slices.Sorted(slices.Values(q.Hosts))
		if len(slices.Compact(sorted)) != len(q.Hosts) {
			t.Errorf("query %d asks twice for a host: %v", i, q.Hosts)
		}
		if q.GroupByHost != (len(q.Hosts) == 0) {
			t.Errorf("query %d of type %s groups: %v, hosts: %v", i, q.Type, q.GroupByHost, q.Hosts)
		}
	}
	if aligned > 2 {
		t.Errorf("%d windows start on a minute; they should start anywhere", aligned)
	}
}

func TestQueriesRepeatAndSurviveTheirFile(t *testing.T) {
	e := extent(10, 8640)
	alone, _ := devops.Queries(e, 5, []string{"groupby-max"}, 10)
	all, _ := devops.Queries(e, 5, []string{"1-host-1-hr", "groupby-max"}, 10)
	for i := range alone {
		all[10+i].ID = alone[i].ID
		if !slices.Equal(all[10+i].Hosts, alone[i].Hosts) || all[10+i].StartNS != alone[i].StartNS {
			t.Errorf("query %d of a type depends on the other types", i)
		}
	}
	var file bytes.Buffer
	if err := spec.Write(&file, alone); err != nil {
		t.Fatal(err)
	}
	read, digest, err := spec.Read(&file)
	if err != nil || len(read) != 10 || len(digest) != 64 {
		t.Fatalf("%d queries were read back, digest %q, error %v", len(read), digest, err)
	}
	for i := range read {
		if read[i].StartNS != alone[i].StartNS || read[i].Type != alone[i].Type {
			t.Errorf("query %d is %+v, was %+v", i, read[i], alone[i])
		}
	}
}

func TestQueriesThatDoNotFitAreRefused(t *testing.T) {
	for _, c := range []struct {
		hosts, ticks int64
		types        string
		words        []string
	}{
		{10, 100, "1-host-1-hr", []string{"1h0m0s", "16m40s", "--end 2016-01-01T01:00:00Z"}},
		{10, 1000, "1-host-12-hr", []string{"--end 2016-01-01T12:00:00Z"}},
		{7, 8640, "8-host-1-hr", []string{"8 hosts", "only 7", "--scale 8"}},
		{7, 8640, "8-host-1hr", []string{`no query type "8-host-1hr"`, "8-host-1-hr, groupby"}},
	} {
		_, err := devops.Queries(extent(c.hosts, c.ticks), 1, []string{c.types}, 1)
		if err == nil {
			t.Errorf("%+v is accepted", c)
			continue
		}
		for _, word := range c.words {
			if !strings.Contains(err.Error(), word) {
				t.Errorf("the error %q does not name %q", err, word)
			}
		}
	}
	short, err := devops.Queries(extent(2, 100), 1, []string{"groupby"}, 1)
	if err != nil || short[0].StartNS != start || short[0].EndNS != start+100*interval {
		t.Errorf("a groupby over a short dataset is %+v, error %v", short, err)
	}
}
