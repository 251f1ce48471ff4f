package bars

import (
	"encoding/binary"
	"fmt"
	"time"

	"benchbook/benchload/query/spec"
	"benchbook/benchload/target"
)

// Reading is a store as the loops of package drive ask it: the text of a query
// is the number of a request.
type Reading struct {
	Store    Store
	Requests []Request
	Decode   bool
}

// Texts are the texts of all requests.
func (r *Reading) Texts() [][]byte {
	texts := make([][]byte, len(r.Requests))
	for i := range texts {
		texts[i] = binary.LittleEndian.AppendUint64(nil, uint64(i))
	}
	return texts
}

// Name is the name of the kind of system.
func (r *Reading) Name() string { return r.Store.Name() }

// Client makes a client.
func (r *Reading) Client() target.Client { return &reader{Client: r.Store.Client(), reading: r} }

// Holds is not asked of a reading.
func (r *Reading) Holds() (bool, error) { return true, nil }

// Text is not asked of a reading.
func (r *Reading) Text(spec.Query, bool) ([]byte, error) { return nil, errNoQuery }

// Rows is not asked of a reading.
func (r *Reading) Rows(spec.Query, []byte) ([]target.Row, error) { return nil, errNoQuery }

var errNoQuery = fmt.Errorf("bars are not asked for by queries")

// reader is one connection of a reading.
type reader struct {
	Client
	reading *Reading
	answer  Answer
}

// Write is not asked of a reader.
func (r *reader) Write(target.Batch) error { return errNoQuery }

// Query reads the request of that number; with decode it fails where the number
// of bars is not that of the dataset.
func (r *reader) Query(text []byte) (target.Answer, error) {
	request := &r.reading.Requests[binary.LittleEndian.Uint64(text)]
	r.answer.Reset()
	if err := r.Read(request, r.reading.Decode, &r.answer); err != nil {
		return target.Answer{}, err
	}
	done := time.Now()
	if r.reading.Decode && r.answer.Rows != request.Bars {
		return target.Answer{}, &target.Failure{Kind: target.BadAnswer, Message: fmt.Sprintf(
			"a %s read gave %d bars, and the dataset has %d there", request.Type, r.answer.Rows, request.Bars)}
	}
	return target.Answer{Rows: r.answer.Rows, Bytes: r.answer.Bytes, Done: done}, nil
}
