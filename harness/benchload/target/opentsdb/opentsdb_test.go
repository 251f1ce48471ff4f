package opentsdb

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"benchbook/benchload/dataset"
	"benchbook/benchload/dataset/devops"
	"benchbook/benchload/query/spec"
	"benchbook/benchload/stream"
	"benchbook/benchload/system"
	"benchbook/benchload/target"
	"benchbook/benchload/target/double"
)

func TestABatchIsOneJSONArray(t *testing.T) {
	extent := dataset.Extent{Seed: 1, Scale: 3, Start: 1451606400e9, End: 1451606430e9, Interval: 10e9,
		WindowStart: 1451606400e9, WindowEnd: 1451606430e9, SeriesCount: 3}
	generator := devops.New(extent)
	made, err := new(OpenTSDB).Format(generator)
	if err != nil {
		t.Fatal(err)
	}
	s := stream.New(generator, made, stream.Options{PieceRows: 7})
	defer s.Close()
	points, values := int64(0), int64(0)
	for {
		piece, more := s.Next()
		if !more {
			break
		}
		var found []struct {
			Metric string            `json:"metric"`
			Tags   map[string]string `json:"tags"`
		}
		if err := json.Unmarshal(piece.Bytes, &found); err != nil {
			t.Fatalf("a batch is no JSON: %v", err)
		}
		points, values = points+int64(len(found)), values+piece.Values
		if len(found) == 0 || found[0].Metric == "" || found[0].Tags["hostname"] == "" {
			t.Errorf("a point is %+v", found[0])
		}
		s.Release(piece)
	}
	if points != values || points != dataset.Values(generator) {
		t.Errorf("%d points for %d values", points, values)
	}
}

func TestAPointThatIsLostIsNoSuccess(t *testing.T) {
	for body, ok := range map[string]bool{`{"success":5,"failed":0}`: true, `{"success":4,"failed":1}`: false, `{}`: false, ``: false} {
		server := double.New(t, func(double.Request) (int, string) { return 200, body })
		client, _ := New(server.Address, "", time.Second).Connect()
		failure := system.AsFailure(client.Write(target.Batch{Rows: 2, Bytes: []byte("[]")}))
		client.Close()
		if (failure == nil) != ok || failure != nil && failure.Refused != 2 {
			t.Errorf("%s gives %+v", body, failure)
		}
		if got := server.Seen(0); got.Path != "/api/put" || got.Query != "summary" {
			t.Errorf("the write is %+v", got)
		}
	}
}

func TestCutBucketsAreAskedForOnTheirOwn(t *testing.T) {
	q := spec.Query{Table: "cpu", Field: "usage_user", Aggregate: "max", BucketNS: 60e9, Hosts: []string{"host_1", "host_2"},
		StartNS: 90e9, EndNS: 210e9}
	text, err := new(OpenTSDB).Text(q)
	bodies := strings.Split(string(text), "\n")
	if err != nil || len(bodies) != 3 {
		t.Fatalf("the requests are %s, error %v", text, err)
	}
	for i, part := range []string{
		`"end":119999,"msResolution":true`, `"downsample":"60000ms-max"`, `"start":180000`,
	} {
		if !strings.Contains(bodies[i], part) || !strings.Contains(bodies[i], "host_1|host_2") {
			t.Errorf("request %d is %s and lacks %s", i, bodies[i], part)
		}
	}
	answer := `[{"tags":{},"dps":{"90000":1.5}}]` + "\n" + `[{"tags":{},"dps":{"120000":2.5}}]` + "\n" + `[]`
	rows, err := new(OpenTSDB).Rows(q, []byte(answer))
	if err != nil || len(rows) != 2 || rows[0].TimeNS != 60e9 || rows[1].TimeNS != 120e9 {
		t.Errorf("the rows are %+v, error %v", rows, err)
	}
	q.Aggregate = "mean"
	if _, err := new(OpenTSDB).Text(q); err == nil {
		t.Error("a mean of means is asked for as the mean")
	}
}

func FuzzRows(f *testing.F) {
	f.Add(`[{"tags":{},"dps":{"1":2}}]`)
	f.Add(`{}`)
	f.Fuzz(func(t *testing.T, body string) {
		q := spec.Query{BucketNS: 60e9, StartNS: 30e9, EndNS: 300e9, GroupByHost: true}
		if rows, err := new(OpenTSDB).Rows(q, []byte(body)); err != nil && rows != nil {
			t.Error("there are rows beside an error")
		}
	})
}
