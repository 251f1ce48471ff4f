package bars

import (
	"fmt"

	"benchbook/benchload/drive"
	"benchbook/benchload/measure"
	"benchbook/benchload/system"
)

// Load stores bars, this number of days of a stock per write. Without a duration it
// stores all days of the dataset once.
func Load(days *Days, store Store, pace drive.Pace, daysOfWrite int64) *drive.Work {
	days.endless = pace.Duration > 0
	return &drive.Work{
		Client: drive.Clients(store, func(conn Conn, _ int) drive.Client {
			return &loader{Conn: conn, days: days, maker: days.Maker(), most: daysOfWrite}
		}),
		Pace: pace,
	}
}

// loader stores bars over one connection.
type loader struct {
	Conn
	days  *Days
	maker *Maker
	most  int64
	bars  []Bar
}

// Next generates the next days.
func (l *loader) Next(int64) bool {
	stock, day, count := l.days.Take(l.most)
	l.bars = l.maker.Append(l.bars[:0], stock, day, count)
	return count > 0
}

// Do stores them.
func (l *loader) Do() (drive.Result, error) {
	rows := int64(len(l.bars))
	if failure := system.AsFailure(l.Write(l.bars)); failure != nil {
		failure.Refused = rows
		return drive.Result{}, failure
	}
	return drive.Result{Counts: measure.Counts{Rows: rows, Values: rows * Fields, Bytes: rows * Size, WireBytes: rows * Size}}, nil
}

// Ended does nothing.
func (l *loader) Ended(*system.Failure) {}

// Read reads the bars of requests, again from the first after the last if the pace has
// more operations. With decode an answer with another number of bars than the dataset
// has is a failure.
func Read(requests []Request, store Store, pace drive.Pace, decode bool) *drive.Work {
	if pace.Operations == 0 && pace.Duration == 0 {
		pace.Operations = int64(len(requests))
	}
	return &drive.Work{
		Client: drive.Clients(store, func(conn Conn, _ int) drive.Client {
			return &reader{Conn: conn, requests: requests, decode: decode}
		}),
		Pace: pace, Rule: drive.Rule{KeepGoing: true},
	}
}

// reader reads bars over one connection.
type reader struct {
	Conn
	requests []Request
	request  *Request
	decode   bool
	answer   Answer
}

// Next chooses the request.
func (r *reader) Next(number int64) bool {
	r.request = &r.requests[number%int64(len(r.requests))]
	r.answer.Reset()
	return true
}

// Do reads the bars.
func (r *reader) Do() (drive.Result, error) {
	if err := r.Read(r.request, r.decode, &r.answer); err != nil {
		return drive.Result{}, err
	}
	if r.decode && r.answer.Rows != r.request.Bars {
		return drive.Result{}, &system.Failure{Kind: system.BadAnswer, Message: fmt.Sprintf(
			"a %s read returned %d bars, but the dataset has %d there", r.request.Type, r.answer.Rows, r.request.Bars)}
	}
	return drive.Result{Counts: measure.Counts{Rows: r.answer.Rows, Bytes: r.answer.Bytes, WireBytes: r.answer.Bytes}}, nil
}

// Ended does nothing.
func (r *reader) Ended(*system.Failure) {}
