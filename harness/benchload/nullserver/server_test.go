package nullserver_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"benchbook/benchload/nullserver"
)

// started is a running server and its address.
func started(t testing.TB) (*nullserver.Server, string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := nullserver.New()
	ended := make(chan error)
	go func() { ended <- server.Serve(listener) }()
	t.Cleanup(func() {
		server.Close()
		if err := <-ended; !errors.Is(err, nullserver.ErrClosed) {
			t.Errorf("the server ended with %v", err)
		}
	})
	return server, "http://" + listener.Addr().String()
}

// do sends one request with the client of the standard library.
func do(t *testing.T, method, url string, body io.Reader, headers ...string) (*http.Response, string) {
	t.Helper()
	request, err := http.NewRequest(method, url, body)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, string(text)
}

func TestRowsAreCounted(t *testing.T) {
	server, at := started(t)
	var packed bytes.Buffer
	writer := gzip.NewWriter(&packed)
	_, _ = io.WriteString(writer, "a x=1\nb x=1\n")
	_ = writer.Close()
	plain := func(text string) io.Reader { return strings.NewReader(text) }
	for _, w := range []struct {
		body    io.Reader
		headers []string
	}{
		{plain("a x=1\nb x=1\n"), nil},
		{plain("a x=1\nb x=1"), nil},
		{&packed, []string{"Content-Encoding", "gzip"}},
		{plain(""), nil},
		{io.MultiReader(plain("a x=1\n"), plain("b x=1\n")), nil}, // of unknown length: in chunks
		{plain("a x=1\n"), []string{"Expect", "100-continue"}},
	} {
		if response, _ := do(t, "POST", at+"/write?db=x", w.body, w.headers...); response.StatusCode != 204 {
			t.Errorf("a write has the status %d", response.StatusCode)
		}
	}
	if got := server.Counts(); got.Rows != 9 || got.Writes != 6 || got.Bytes != 53 {
		t.Errorf("the counts are %+v", got)
	}
	if _, text := do(t, "GET", at+"/count", nil); !strings.Contains(text, `"rows":9`) {
		t.Errorf("/count answers %q", text)
	}
	response, text := do(t, "POST", at+"/write", plain("no gzip"), "Content-Encoding", "gzip")
	if response.StatusCode != 400 || !strings.Contains(text, "gzip") {
		t.Errorf("a broken body has the answer %d %q", response.StatusCode, text)
	}
}

func TestASealedBodyIsCountedAsItIs(t *testing.T) {
	server, at := started(t)
	server.Sealed = true
	response, _ := do(t, "POST", at+"/write", strings.NewReader("not read"), "Content-Encoding", "gzip")
	if got := server.Counts(); response.StatusCode != 204 || got.Rows != 0 || got.Writes != 1 || got.Bytes != 8 {
		t.Errorf("it answers %d and counts %+v", response.StatusCode, got)
	}
}

func TestItAnswersLikeInfluxDB(t *testing.T) {
	_, at := started(t)
	if got, _ := do(t, "GET", at+"/ping", nil); got.StatusCode != 204 || got.Header.Get("X-Influxdb-Version") == "" {
		t.Errorf("/ping answers %d %v", got.StatusCode, got.Header)
	}
	for statement, word := range map[string]string{"SHOW MEASUREMENTS": `{"statement_id":0}`, "create database x": `{"statement_id":0}`, "show databases": `"_internal"`, "SELECT 1": `"series"`} {
		form := "q=" + url.QueryEscape(statement)
		_, got := do(t, "GET", at+"/query?"+form, nil)
		_, posted := do(t, "POST", at+"/query", strings.NewReader(form), "Content-Type", "application/x-www-form-urlencoded")
		if !strings.Contains(got, word) || posted != got {
			t.Errorf("%q has the answers %q and %q", statement, got, posted)
		}
	}
	if got, _ := do(t, "GET", at+"/nowhere", nil); got.StatusCode != 404 {
		t.Errorf("an unknown path has the status %d", got.StatusCode)
	}
}

func TestNonsenseIsRefused(t *testing.T) {
	_, at := started(t)
	for _, text := range []string{
		"hello\r\n\r\n", "GET /ping HTTP/1.1\r\nnonsense\r\n\r\n", "POST /write HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
		"POST /write HTTP/1.1\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
	} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(at, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(conn, text)
		_ = conn.(*net.TCPConn).CloseWrite()
		line, _ := bufio.NewReader(conn).ReadString('\n')
		if line != "" && !strings.Contains(line, "400") {
			t.Errorf("%q has the answer %q", text, line)
		}
		_ = conn.Close()
	}
}
