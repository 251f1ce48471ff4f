package elasticsearch

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"benchbook/benchload/query/spec"
	"benchbook/benchload/system"
	"benchbook/benchload/target"
	"benchbook/benchload/target/double"
)

// against makes a target of a server that answers like this.
func against(t *testing.T, status int, body string) (*Elasticsearch, *double.Server) {
	t.Helper()
	server := double.New(t, func(double.Request) (int, string) { return status, body })
	return New(server.Address, "", 5*time.Second), server
}

func write(t *testing.T, tested *Elasticsearch, rows int64) *system.Failure {
	t.Helper()
	client, _ := tested.Connect()
	defer client.Close()
	return system.AsFailure(client.Write(target.Batch{Rows: rows, Bytes: []byte("{}\n{}\n")}))
}

func TestABatchIsABulkRequest(t *testing.T) {
	for _, refresh := range []bool{false, true} {
		tested, server := against(t, 200, `{"errors":false}`)
		if refresh {
			tested.Refreshing()
		}
		if failure := write(t, tested, 1); failure != nil {
			t.Fatal(failure)
		}
		got := server.Seen(0)
		if got.Path != "/benchbook/doc/_bulk" || got.Header.Get("Content-Type") != "application/x-ndjson" ||
			strings.Contains(got.Query, "refresh=true") != refresh {
			t.Errorf("the write is %+v", got)
		}
	}
}

func TestARowOfABatchThatIsRefusedIsCounted(t *testing.T) {
	const full = `{"index":{"error":{"type":"es_rejected_execution_exception","reason":"rejected execution of x@1"}}}`
	for body, want := range map[string]system.Failure{
		`{"errors":true,"items":[` + full + `]}`:              {Kind: system.Refused, Status: 429, Refused: 1, Message: rejected},
		`{"errors":true,"items":[` + full + "," + full + `]}`: {Kind: system.Server, Status: 429, Refused: 2, Message: rejected},
		`{"errors":true,"items":[{"index":{"error":{"type":"mapper_parsing_exception","reason":"bad"}}}]}`: {Kind: system.Refused, Status: 200, Refused: 1,
			Message: "mapper_parsing_exception: bad"},
		`{}`: {Kind: system.BadAnswer, Status: 200, Refused: 2, Message: "the answer to a bulk request is not in Elasticsearch's form: {}"},
	} {
		tested, _ := against(t, 200, body)
		if failure := write(t, tested, 2); failure == nil || *failure != want {
			t.Errorf("%s gives %+v, want %+v", body, failure, want)
		}
	}
	tested, _ := against(t, 413, `{"error":{"type":"too_large","reason":"entity"},"status":413}`)
	if failure := write(t, tested, 2); failure == nil || failure.Kind != system.Refused || failure.Refused != 2 || failure.Message != "too_large: entity" {
		t.Errorf("the failure is %+v", failure)
	}
}

func TestHoldsCountsDocuments(t *testing.T) {
	for body, want := range map[string]bool{`{"count":0}`: false, `{"count":7}`: true} {
		tested, _ := against(t, 200, body)
		if holds, err := tested.Holds(); holds != want || err != nil {
			t.Errorf("with %s it holds data: %v, error %v", body, holds, err)
		}
	}
	tested, _ := against(t, 200, `[]`)
	if _, err := tested.Holds(); err == nil {
		t.Error("an answer of something else is taken for an empty server")
	}
}

func TestASearchAsksForWholeMilliseconds(t *testing.T) {
	tested := new(Elasticsearch)
	text, err := tested.Text(spec.Query{Table: "cpu", Field: "usage_user", Aggregate: "mean", BucketNS: 60e9,
		Hosts: []string{"host_1"}, StartNS: 1_000_001, EndNS: 3_000_000, GroupByHost: true})
	index, body, _ := strings.Cut(string(text), "\n")
	if err != nil || index != "cpu" || !json.Valid([]byte(body)) {
		t.Fatalf("the search is %s, error %v", text, err)
	}
	for _, part := range []string{`"gte":2,"lt":3`, `"interval":"60000ms"`, `"hostname":["host_1"]`, `"avg":{"field":"usage_user"}`, `"terms":{"field":"hostname"`} {
		if !strings.Contains(body, part) {
			t.Errorf("%s lacks %s", body, part)
		}
	}
}

func TestAnswersBecomeRows(t *testing.T) {
	body := `{"timed_out":false,"_shards":{"failed":0},"aggregations":{"host":{"buckets":[{"key":"host_1","bucket":{"buckets":[` +
		`{"key":60000,"value":{"value":1.5}},{"key":120000,"value":{"value":null}}]}}]}}}`
	rows, err := new(Elasticsearch).Rows(spec.Query{}, []byte(body))
	if err != nil || len(rows) != 1 || rows[0] != (target.Row{TimeNS: 60e9, Host: "host_1", Value: 1.5}) {
		t.Errorf("the rows are %+v, error %v", rows, err)
	}
	for _, body := range []string{`{}`, `{"timed_out":true,"aggregations":{}}`, `{"_shards":{"failed":1},"aggregations":{}}`, `<`} {
		if _, err := new(Elasticsearch).Rows(spec.Query{}, []byte(body)); err == nil {
			t.Errorf("%s is taken for a whole answer", body)
		}
	}
}

func FuzzCheckBulk(f *testing.F) {
	f.Add(200, `{"errors":true,"items":[{"index":{"error":{"type":"x"}}}]}`)
	f.Add(429, ``)
	f.Fuzz(func(t *testing.T, status int, body string) {
		failure := checkBulk(status, []byte(body), 10)
		if failure == nil && (status < 200 || status > 299) {
			t.Errorf("%d is taken for success", status)
		}
		if failure != nil && (failure.Refused < 1 || failure.Refused > 10) {
			t.Errorf("%d of 10 rows are refused", failure.Refused)
		}
	})
}
