package query_test

import (
	"fmt"
	"testing"
	"time"

	"benchbook/benchload/drive"
	"benchbook/benchload/query"
	"benchbook/benchload/query/spec"
	"benchbook/benchload/target"
	"benchbook/benchload/target/null"
)

// answering is a connection with one answer.
type answering struct {
	target.Conn
	body []byte
}

func (a answering) Query([]byte) (target.Answer, error) {
	return target.Answer{Body: a.body, Bytes: int64(len(a.body)), Done: time.Now()}, nil
}

// server has such connections.
type server struct {
	null.Null
	body []byte
}

func (s server) Connect() (target.Conn, error) { return answering{body: s.body}, nil }

// BenchmarkQuery is what a client does for one answer, without the server: its rows are
// an hour of minutes of one host, or a day of hours of a hundred hosts. Answers are the
// same again and again, or in two forms by turns.
func BenchmarkQuery(b *testing.B) {
	for _, rows := range []int{60, 2400} {
		b.Run(fmt.Sprintf("%d rows, same", rows), func(b *testing.B) { benchmarkQuery(b, rows, 0) })
		b.Run(fmt.Sprintf("%d rows, other form", rows), func(b *testing.B) { benchmarkQuery(b, rows, 1) })
	}
}

func benchmarkQuery(b *testing.B, rows int, form byte) {
	body := []byte(`{"results":[{"statement_id":0,"series":[{"name":"cpu","columns":["time","max"],"values":[`)
	for row := range rows {
		body = fmt.Appendf(body, `["2016-01-01T%02d:%02d:00Z",%v],`, row/60%24, row%60, float64(row)*1.37)
	}
	client, err := query.Work([][]byte{[]byte("q")}, query.NewSeen(make([]spec.Query, 1)), server{body: body}, drive.Pace{Workers: 1}).Client(0)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		body[0] ^= form // no part of a word or number
		client.Next(0)
		if _, err := client.Do(); err != nil {
			b.Fatal(err)
		}
	}
}
