package clients

import (
	"encoding/json"
	"fmt"

	"benchbook/benchload/event"
	"benchbook/benchload/histogram"
)

// merge is the events of all clients as those of one load.
type merge struct {
	events    *event.Writer
	clients   []*progress
	written   int   // intervals
	last      int64 // end of the interval written last
	total     histogram.Histogram
	operation string
	failures  []event.Error
}

// progress is how far one client has come.
type progress struct {
	start     event.Start
	intervals []event.Interval // not written yet
	seen      event.Interval   // sums of all intervals
	summary   *event.Summary
	ended     bool
}

// newMerge begins with clients that have said nothing yet.
func newMerge(events *event.Writer, count int) *merge {
	m := &merge{events: events}
	for range count {
		m.clients = append(m.clients, &progress{})
	}
	return m
}

// take takes one line of a client.
func (m *merge) take(client int, line []byte) error {
	c := m.clients[client]
	var head event.Head
	if err := json.Unmarshal(line, &head); err != nil {
		return fmt.Errorf("client %d wrote a line that is no event: %w", client, err)
	}
	var err error
	switch head.Type {
	case "start":
		err = json.Unmarshal(line, &c.start)
	case "interval":
		var e event.Interval
		if err = json.Unmarshal(line, &e); err == nil {
			err = m.interval(c, e)
		}
	case "histogram":
		var e event.Histogram
		if err = json.Unmarshal(line, &e); err == nil {
			err = m.histogram(e)
		}
	case "error":
		var e event.Error
		if err = json.Unmarshal(line, &e); err == nil {
			m.failure(e)
		}
	case "summary":
		c.summary = &event.Summary{}
		err = json.Unmarshal(line, c.summary)
	}
	if err != nil {
		return fmt.Errorf("client %d wrote a %s that cannot be read: %w", client, head.Type, err)
	}
	return nil
}

// interval keeps an interval until all clients have come as far.
func (m *merge) interval(c *progress, e event.Interval) error {
	m.operation = e.Operation
	c.intervals = append(c.intervals, e)
	c.seen.Operations += e.Operations
	c.seen.Rows += e.Rows
	c.seen.Values += e.Values
	c.seen.Bytes += e.Bytes
	c.seen.Errors += e.Errors
	c.seen.DurationNS = e.StartNS + e.DurationNS
	return m.flush()
}

// end says that a client will write nothing more.
func (m *merge) end(client int) error {
	m.clients[client].ended = true
	return m.flush()
}

// flush writes the intervals that all clients have come to or will not come to.
func (m *merge) flush() error {
	for {
		waiting, any := false, false
		for _, c := range m.clients {
			waiting = waiting || len(c.intervals) == 0 && !c.ended && c.summary == nil
			any = any || len(c.intervals) > 0
		}
		if waiting || !any {
			return nil
		}
		sum := event.Interval{Operation: m.operation, Index: m.written, StartNS: m.last}
		var latencies histogram.Histogram
		for _, c := range m.clients {
			if len(c.intervals) == 0 {
				continue
			}
			e := c.intervals[0]
			c.intervals = c.intervals[1:]
			h, err := histogram.Decode(e.Histogram)
			if err != nil {
				return err
			}
			latencies.Add(h)
			sum.Operations += e.Operations
			sum.Rows += e.Rows
			sum.Values += e.Values
			sum.Bytes += e.Bytes
			sum.Errors += e.Errors
			m.last = max(m.last, e.StartNS+e.DurationNS)
		}
		sum.DurationNS = m.last - sum.StartNS
		sum.Histogram = latencies.Encode()
		m.events.Interval(sum)
		m.written++
	}
}

// histogram adds the latencies of a client.
func (m *merge) histogram(e event.Histogram) error {
	h, err := histogram.Decode(e.Encoded)
	if err != nil {
		return err
	}
	h.Min, h.Max, h.Sum = e.MinNS, e.MaxNS, e.MeanNS*float64(e.Count)
	m.total.Add(h)
	return nil
}

// failure adds failures to those of the same kind with the same words.
func (m *merge) failure(e event.Error) {
	for i := range m.failures {
		f := &m.failures[i]
		if f.Kind == e.Kind && f.Status == e.Status && f.Message == e.Message {
			f.Operations += e.Operations
			f.Rows += e.Rows
			return
		}
	}
	m.failures = append(m.failures, e)
}
