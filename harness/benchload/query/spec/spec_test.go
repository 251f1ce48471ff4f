package spec

import (
	"bytes"
	"strings"
	"testing"
)

const line = `{"id":0,"type":"1-host-1-hr","table":"cpu","field":"usage_user","aggregate":"max","bucket_ns":60000000000,` +
	`"hosts":["host_3"],"start_ns":1451606400000000000,"end_ns":1451610000000000000,"group_by_host":false}`

func TestWrongLinesAreNamed(t *testing.T) {
	for text, words := range map[string]string{
		line + "\n{":                                          "line 2",
		strings.Replace(line, "max", "last", 1):               `"last"`,
		strings.Replace(line, "60000000000", "0", 1):          "bucket_ns",
		strings.Replace(line, `"end_ns":1`, `"end_ns":-1`, 1): "end_ns",
		strings.Replace(line, "host_3", "x' or 1=1 --", 1):    "x' or 1=1 --",
		strings.Replace(line, "usage_user", "a)", 1):          "a)",
	} {
		if _, _, err := Read(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%q gives %v, want an error about %q", text, err, words)
		}
	}
}

func TestLimitIsForEachType(t *testing.T) {
	all := []Query{{ID: 0, Type: "a"}, {ID: 1, Type: "a"}, {ID: 2, Type: "b"}, {ID: 3, Type: "a"}}
	if kept := Limit(all, 1); len(kept) != 2 || kept[1].ID != 2 {
		t.Errorf("kept are %+v", kept)
	}
	if kept := Limit(all, 0); len(kept) != 4 {
		t.Errorf("kept are %+v", kept)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(line))
	f.Add([]byte("{}\n\n[]"))
	f.Fuzz(func(t *testing.T, text []byte) {
		queries, _, err := Read(bytes.NewReader(text))
		if err != nil {
			return
		}
		// What was read survives being written.
		var out bytes.Buffer
		if err := Write(&out, queries); err != nil {
			t.Fatal(err)
		}
		again, _, err := Read(&out)
		if err != nil || len(again) != len(queries) {
			t.Errorf("%d queries became %d, error %v", len(queries), len(again), err)
		}
	})
}
