// Package event writes events as JSON lines, described in docs/benchload-events.md.
//
// They are the whole contract between a client and Benchbook: [Start] first, an [Interval]
// each second, then each [Histogram] and [Error], and one [Summary] last. Packages drive and
// measure write all but the first and the last, which package command writes.
package event

import (
	"encoding/json"
	"io"
	"sync"
)

// Version is the version of the events.
const Version = 1

// Head is the beginning of every event.
type Head struct {
	Version int    `json:"v"`
	Type    string `json:"type"`
}

// Start is the first event of a workload.
type Start struct {
	Head
	Workload   string `json:"workload"`
	TimeUnixNS int64  `json:"time_unix_ns"`
	Target     string `json:"target"`
	Workers    int    `json:"workers"`
	BatchRows  int64  `json:"batch_rows,omitempty"`
	Rows       int64  `json:"rows,omitempty"`       // to be loaded
	Operations int64  `json:"operations,omitempty"` // to be done, without the warm-up
	Warmup     int64  `json:"warmup,omitempty"`
	Gzip       bool   `json:"gzip,omitempty"`
	Loop       string `json:"loop,omitempty"` // closed or open
	Program    string `json:"program"`
}

// Interval is the activity of about a second.
type Interval struct {
	Head
	Operation  string `json:"operation"`
	Index      int    `json:"index"`
	StartNS    int64  `json:"start_ns"` // since the start of the timed region
	DurationNS int64  `json:"duration_ns"`
	Drain      bool   `json:"drain,omitempty"` // after the time of the workload was over
	Operations int64  `json:"operations"`
	Rows       int64  `json:"rows"`
	Values     int64  `json:"values"`
	Bytes      int64  `json:"bytes"`
	Errors     int64  `json:"errors"`
	Histogram  string `json:"histogram"`
}

// Histogram holds all latencies of a kind of operation.
type Histogram struct {
	Head
	Operation string  `json:"operation"`
	Kind      string  `json:"kind"` // service or response
	Unit      string  `json:"unit"`
	Count     uint64  `json:"count"`
	MinNS     int64   `json:"min_ns"`
	MeanNS    float64 `json:"mean_ns"`
	MaxNS     int64   `json:"max_ns"`
	Encoded   string  `json:"encoded"`
}

// Error is a number of failures of the same kind with the same message.
type Error struct {
	Head
	Kind       string `json:"kind"`
	Status     int    `json:"status"`
	Message    string `json:"message"`
	Operations int64  `json:"operations"`
	Rows       int64  `json:"rows"`
}

// Answer is the rows of one query, in a form that compares with other systems.
type Answer struct {
	Head
	ID        int64    `json:"id"`
	QueryType string   `json:"query_type"`
	Columns   []string `json:"columns"`
	Rows      [][]any  `json:"rows"`
}

// Answered is a summary of the answers to each query.
type Answered struct {
	Head
	Answers []Seen `json:"answers"`
}

// Seen is how many answers to a query had one digest.
type Seen struct {
	ID      int64 `json:"id"`
	Answers int64 `json:"answers"`
	Digest
}

// Digest sums up an answer, whatever the order of its rows. Numbers is -1 for all digests
// of a query that has too many different ones.
type Digest struct {
	Numbers int64   `json:"numbers"`
	Exact   uint64  `json:"exact,string"` // of words and large whole numbers
	Sum     float64 `json:"sum"`          // of the other numbers
	Size    float64 `json:"size"`         // the sum of their absolute values
}

// Checked is the result of reading all objects back.
type Checked struct {
	Head
	Objects   int64  `json:"objects"`   // that the store has to have
	Read      int64  `json:"read"`      // that it has
	Bytes     int64  `json:"bytes"`     // of them
	Missing   int64  `json:"missing"`   // that it does not have
	Different int64  `json:"different"` // that have other bytes than were put
	Back      int64  `json:"back"`      // that were deleted and are there
	SHA256    string `json:"sha256"`    // of the SHA-256 of the objects as they were read, in order
	Expected  string `json:"expected"`  // the same, of what was put
}

// Summary is always the last event.
type Summary struct {
	Head
	Workload            string   `json:"workload"`
	DurationNS          int64    `json:"duration_ns"`
	WindowNS            int64    `json:"window_ns,omitempty"`          // that rates count, of a workload with a duration
	DrainedOperations   int64    `json:"drained_operations,omitempty"` // that ended after the window
	DrainedRows         int64    `json:"drained_rows,omitempty"`
	Operations          int64    `json:"operations"`
	Rows                int64    `json:"rows"` // acknowledged
	Values              int64    `json:"values"`
	Bytes               int64    `json:"bytes"` // of bodies, before compression
	WireBytes           int64    `json:"wire_bytes"`
	RowsRefused         int64    `json:"rows_refused"`
	RowsUnsent          int64    `json:"rows_unsent"`
	Errors              int64    `json:"errors"`
	Retries             int64    `json:"retries"`
	ClientCPUNS         int64    `json:"client_cpu_ns"`
	GeneratorStallNS    int64    `json:"generator_stall_ns"`
	RecordStallNS       int64    `json:"record_stall_ns,omitempty"` // of workers, for the file of single operations
	Bottleneck          string   `json:"bottleneck"`
	Saturated           bool     `json:"saturated"`
	OfferedPerSecond    *float64 `json:"offered_per_second"`
	AchievedPerSecond   float64  `json:"achieved_per_second"`
	RowsPerSecond       float64  `json:"rows_per_second"`
	OperationsPerSecond float64  `json:"operations_per_second"`
	Digest              *string  `json:"digest"`
}

// Writer writes events, each at once.
type Writer struct {
	lock sync.Mutex
	out  io.Writer
	err  error
}

// NewWriter writes to this stream.
func NewWriter(out io.Writer) *Writer { return &Writer{out: out} }

// write encodes one event as one line.
func (w *Writer) write(line any) {
	text, err := json.Marshal(line)
	w.lock.Lock()
	defer w.lock.Unlock()
	if err == nil && w.err == nil {
		_, err = w.out.Write(append(text, '\n'))
	}
	if w.err == nil {
		w.err = err
	}
}

// Err is the first failure to write.
func (w *Writer) Err() error {
	w.lock.Lock()
	defer w.lock.Unlock()
	return w.err
}

// head makes the head of an event.
func head(kind string) Head { return Head{Version, kind} }

// Start writes a start.
func (w *Writer) Start(e Start) { e.Head = head("start"); w.write(e) }

// Interval writes an interval.
func (w *Writer) Interval(e Interval) { e.Head = head("interval"); w.write(e) }

// Histogram writes a histogram.
func (w *Writer) Histogram(e Histogram) { e.Head = head("histogram"); w.write(e) }

// Error writes an error.
func (w *Writer) Error(e Error) { e.Head = head("error"); w.write(e) }

// Answer writes an answer.
func (w *Writer) Answer(e Answer) { e.Head = head("answer"); w.write(e) }

// Answered writes a summary of answers.
func (w *Writer) Answered(e Answered) { e.Head = head("answered"); w.write(e) }

// Summary writes a summary.
func (w *Writer) Summary(e Summary) { e.Head = head("summary"); w.write(e) }

// Checked writes the result of reading all objects back.
func (w *Writer) Checked(e Checked) { e.Head = head("checked"); w.write(e) }
