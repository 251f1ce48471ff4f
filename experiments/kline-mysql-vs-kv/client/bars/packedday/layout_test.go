package packedday

import (
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"benchbook/experiments/kline-mysql-vs-kv/client/bars"
)

func at(text string) int64 {
	t, err := time.Parse(time.DateTime, text)
	if err != nil {
		panic(err)
	}
	return t.Unix()
}

func TestKeysAndFieldsAreThePublishedOnes(t *testing.T) {
	for stock, key := range map[uint16]string{1: "0000", 9: "0000", 10: "0001", 65535: "6553"} {
		if got := Key(stock); got != key {
			t.Errorf("stock %d is in %q, want %q", stock, got, key)
		}
	}
	if got := Field(12, at("2020-05-09 14:00:00")); got != "000012_20200509" {
		t.Errorf("the field is %q", got)
	}
	// Friday to Tuesday: three trading days.
	asked := &bars.Request{Stock: 7, From: at("2020-01-03 00:00:00"), To: at("2020-01-07 23:59:59")}
	if got := fmt.Sprint(fields(nil, asked)); got != "[000007_20200103 000007_20200106 000007_20200107]" {
		t.Errorf("the fields are %s", got)
	}
}

// day is a packed day, its bars a minute apart.
func day(count int) []byte {
	var packed []byte
	for i := range count {
		packed = (&bars.Bar{Stock: 3, Time: int64(1000 + 60*i), Values: [bars.Fields]uint32{uint32(i)}}).Append(packed)
	}
	return packed
}

func TestTakeAndCutKeepTheRange(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	packed := day(240)
	for range 500 {
		asked := &bars.Request{Stock: 3, From: random.Int64N(20000)}
		asked.To = asked.From + random.Int64N(20000)
		var want []bars.Bar
		for i := range 240 {
			if t := int64(1000 + 60*i); t >= asked.From && t <= asked.To {
				want = append(want, bars.Bar{Stock: 3, Time: t, Values: [bars.Fields]uint32{uint32(i)}})
			}
		}
		for name, got := range map[string][]bars.Bar{"Take": Take(nil, packed, asked), "Cut": Take(nil, Cut(nil, packed, asked), asked)} {
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("%s of %d … %d: %d bars, want %d", name, asked.From, asked.To, len(got), len(want))
			}
		}
	}
}

func TestTheServiceRefusesWhatItCannotServe(t *testing.T) {
	service := NewService("127.0.0.1:1", 1, time.Second)
	for query, status := range map[string]int{
		"":                            400,
		"stock=0&from=1&to=2":         400,
		"stock=1&from=2&to=1":         400,
		"stock=1&from=-1&to=1":        400,
		"stock=1&from=0&to=1e9":       400,
		"stock=1&from=0&to=1":         502, // no server listens there
		"stock=70000&from=0&to=1":     400,
		"stock=1&from=0&to=999999999": 400,
	} {
		out := httptest.NewRecorder()
		service.ServeHTTP(out, httptest.NewRequest("GET", "/bars?"+query, nil))
		if out.Code != status {
			t.Errorf("%q: status %d, want %d: %s", query, out.Code, status, out.Body)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("stock=1&from=2&to=3")
	f.Fuzz(func(t *testing.T, text string) {
		query, err := url.ParseQuery(text)
		if err != nil {
			return
		}
		if r, err := parse(query); err == nil && (r.Stock == 0 || r.From < 0 || r.To < r.From) {
			t.Errorf("%q is taken for %+v", text, r)
		}
	})
}

func FuzzTake(f *testing.F) {
	f.Add(day(3), int64(0), int64(5000))
	f.Fuzz(func(t *testing.T, packed []byte, from, to int64) {
		asked := &bars.Request{From: from, To: to}
		if got := Take(nil, packed, asked); len(got) > len(packed)/bars.Size {
			t.Errorf("%d bars of %d bytes", len(got), len(packed))
		}
		Cut(nil, packed, asked)
	})
}

func BenchmarkTake(b *testing.B) {
	packed := day(240)
	asked := &bars.Request{Stock: 3, To: 1 << 40}
	var into []bars.Bar
	b.SetBytes(int64(len(packed)))
	b.ReportAllocs()
	for b.Loop() {
		into = Take(into[:0], packed, asked)
	}
}
