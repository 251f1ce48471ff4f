// Package query asks a target the queries of a file.
package query

import (
	"benchbook/benchload/drive"
	"benchbook/benchload/measure"
	"benchbook/benchload/system"
	"benchbook/benchload/target"
)

// Work asks these queries, again from the first after the last if the pace has more operations,
// and keeps digests of their answers.
func Work(texts [][]byte, seen *Seen, t target.Target, pace drive.Pace) *drive.Work {
	if pace.Operations == 0 && pace.Duration == 0 {
		pace.Operations = int64(len(texts))
	}
	return &drive.Work{
		Client: drive.Clients(t, func(conn target.Conn, _ int) drive.Client { return &client{Conn: conn, texts: texts, seen: seen} }),
		Pace:   pace, Rule: drive.Rule{KeepGoing: true},
	}
}

// client asks over one connection.
type client struct {
	target.Conn
	texts [][]byte
	seen  *Seen
	place int // of the query
}

// Next chooses the query.
func (c *client) Next(number int64) bool {
	c.place = int(number % int64(len(c.texts)))
	return true
}

// Do asks the query. Its answer is read after it has ended, so in no latency.
func (c *client) Do() (drive.Result, error) {
	answer, err := c.Query(c.texts[c.place])
	if err != nil {
		return drive.Result{}, err
	}
	values := c.seen.add(c.place, answer.Body).Numbers
	return drive.Result{Counts: measure.Counts{Values: values, Bytes: answer.Bytes, WireBytes: answer.Bytes}, Ended: answer.Done}, nil
}

// Ended does nothing.
func (c *client) Ended(*system.Failure) {}
