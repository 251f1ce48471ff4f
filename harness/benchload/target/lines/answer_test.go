package lines

import (
	"strings"
	"testing"
)

func TestTheServersOwnWordsAreFound(t *testing.T) {
	for body, want := range map[string]string{
		`{"error":"engine is closed"}`:                                          "engine is closed",
		`{"results":[{"statement_id":0},{"error":"database not found"}]}`:       "database not found",
		`{"error_code":"010001","error_message":"Datafusion: Table not found"}`: "Datafusion: Table not found",
		`{"code":"invalid","message":"failed to parse line protocol","line":1}`: "failed to parse line protocol",
		"cannot parse the body\n":                                               "cannot parse the body",
		`unable to parse 'cpu a=b 1': invalid value`:                            "unable to parse '…': invalid value",
		"dial tcp 127.0.0.1:40000->127.0.0.1:8086: broken":                      "dial tcp 127.0.0.1:8086: broken",
	} {
		if got := Message([]byte(body)); got != want {
			t.Errorf("%s has the words %q, want %q", body, got, want)
		}
	}
}

func TestUsersAreNamed(t *testing.T) {
	for user, want := range map[string]string{"": "", "root": "cm9vdDo=", "a:b": "YTpi"} {
		if got := Basic(user); !strings.Contains(got, want) || (want == "") != (got == "") {
			t.Errorf("the header for %q is %q", user, got)
		}
	}
}

func FuzzCheckWrite(f *testing.F) {
	f.Add(200, `{"error":"x"}`)
	f.Add(204, "")
	f.Add(400, `{"error":"partial write: x dropped=3"}`)
	f.Add(200, `{"error_message":1}`)
	f.Fuzz(func(t *testing.T, status int, body string) {
		failure := checkWrite(status, []byte(body))
		if failure == nil && (status < 200 || status > 299) {
			t.Errorf("%d is taken for success", status)
		}
		if failure != nil {
			if n := refused(failure.Message, 10); n < 1 || n > 10 {
				t.Errorf("%d of 10 rows are refused", n)
			}
		}
	})
}

func FuzzSteady(f *testing.F) {
	f.Add("unable to parse 'cpu a=1': bad")
	f.Fuzz(func(t *testing.T, text string) {
		if short := Steady(text); len(short) > maxMessage+len("…") {
			t.Errorf("the message has %d bytes", len(short))
		}
	})
}
