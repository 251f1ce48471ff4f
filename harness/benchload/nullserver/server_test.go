package nullserver

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// do sends one request to a server without a network.
func do(s *Server, method, path, body, encoding string) *httptest.ResponseRecorder {
	request := httptest.NewRequest(method, path, strings.NewReader(body))
	if encoding != "" {
		request.Header.Set("Content-Encoding", encoding)
	}
	if method == "POST" && strings.HasPrefix(path, "/query") {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	recorder := httptest.NewRecorder()
	s.serve(recorder, request)
	return recorder
}

func TestRowsAreCounted(t *testing.T) {
	s := New()
	var packed bytes.Buffer
	writer := gzip.NewWriter(&packed)
	_, _ = io.WriteString(writer, "a x=1\nb x=1\n")
	_ = writer.Close()
	for _, w := range []struct{ body, encoding string }{{"a x=1\nb x=1\n", ""}, {"a x=1\nb x=1", ""}, {packed.String(), "gzip"}, {"", ""}} {
		if got := do(s, "POST", "/write?db=x", w.body, w.encoding).Code; got != 204 {
			t.Errorf("a write has the status %d", got)
		}
	}
	if got := s.Counts(); got.Rows != 6 || got.Writes != 4 || got.Bytes != 35 {
		t.Errorf("the counts are %+v", got)
	}
	if got := do(s, "GET", "/count", "", "").Body.String(); !strings.Contains(got, `"rows":6`) {
		t.Errorf("/count answers %q", got)
	}
	if got := do(s, "POST", "/write", "no gzip", "gzip"); got.Code != 400 || !strings.Contains(got.Body.String(), "gzip") {
		t.Errorf("a broken body has the answer %d %q", got.Code, got.Body)
	}
}

func TestItAnswersLikeInfluxDB(t *testing.T) {
	s := New()
	if got := do(s, "GET", "/ping", "", ""); got.Code != 204 || got.Header().Get("X-Influxdb-Version") == "" {
		t.Errorf("/ping answers %d %v", got.Code, got.Header())
	}
	for statement, word := range map[string]string{"SHOW MEASUREMENTS": `{"statement_id":0}`, "create database x": `{"statement_id":0}`, "SELECT 1": `"series"`} {
		for _, got := range []*httptest.ResponseRecorder{
			do(s, "GET", "/query?q="+url.QueryEscape(statement), "", ""),
			do(s, "POST", "/query", "q="+url.QueryEscape(statement), ""),
		} {
			if got.Code != 200 || !strings.Contains(got.Body.String(), word) {
				t.Errorf("%q has the answer %d %q", statement, got.Code, got.Body)
			}
		}
	}
	if got := do(s, "GET", "/nowhere", "", "").Code; got != 404 {
		t.Errorf("an unknown path has the status %d", got)
	}
}
