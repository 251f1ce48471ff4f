package clients

import (
	"sort"
	"time"

	"benchbook/benchload/event"
)

// start writes the start of all clients together.
func (m *merge) start() {
	all := m.clients[0].start
	all.TimeUnixNS, all.Clients = time.Now().UnixNano(), len(m.clients)
	all.Workers, all.Rows = 0, 0
	for _, c := range m.clients {
		all.Workers += c.start.Workers
		all.Rows += c.start.Rows
	}
	m.events.Start(all)
}

// finish writes what comes at the end, and gives the summary.
func (m *merge) finish() event.Summary {
	m.events.Histogram(event.Histogram{
		Operation: m.operation, Kind: "service", Unit: "ns", Count: m.total.Count,
		MinNS: m.total.Min, MeanNS: m.total.Mean(), MaxNS: m.total.Max, Encoded: m.total.Encode(),
	})
	sort.SliceStable(m.failures, func(i, j int) bool { return m.failures[i].Operations > m.failures[j].Operations })
	for _, f := range m.failures {
		m.events.Error(f)
	}
	all := event.Summary{Workload: m.clients[0].start.Workload, Clients: len(m.clients), Bottleneck: "server"}
	workers := 0
	for _, c := range m.clients {
		s := c.outcome()
		all.DurationNS = max(all.DurationNS, s.DurationNS)
		all.Operations += s.Operations
		all.Rows += s.Rows
		all.Values += s.Values
		all.Bytes += s.Bytes
		all.WireBytes += s.WireBytes
		all.RowsRefused += s.RowsRefused
		all.RowsUnsent += s.RowsUnsent
		all.Errors += s.Errors
		all.Retries += s.Retries
		all.ClientCPUNS += s.ClientCPUNS
		all.GeneratorStallNS += s.GeneratorStallNS
		all.RecordStallNS += s.RecordStallNS
		workers += c.start.Workers
	}
	if all.GeneratorStallNS > all.DurationNS*int64(workers)/2 {
		all.Bottleneck = "generator"
	}
	if seconds := time.Duration(all.DurationNS).Seconds(); seconds > 0 {
		all.RowsPerSecond = float64(all.Rows) / seconds
		all.OperationsPerSecond = float64(all.Operations) / seconds
		all.AchievedPerSecond = all.OperationsPerSecond
	}
	m.events.Summary(all)
	return all
}

// outcome is the summary of a client; of one that died without, what its
// intervals have told: nothing else counts as loaded.
func (c *progress) outcome() event.Summary {
	if c.summary != nil {
		return *c.summary
	}
	return event.Summary{
		DurationNS: c.seen.DurationNS, Operations: c.seen.Operations, Rows: c.seen.Rows, Values: c.seen.Values,
		Bytes: c.seen.Bytes, Errors: c.seen.Errors + 1, RowsUnsent: c.start.Rows - c.seen.Rows,
	}
}
