package load

import (
	"bytes"
	"runtime"
	"sync"

	"github.com/klauspost/compress/gzip"
)

// Packed compresses the batches of a source on all cores ahead of the workers. A
// worker that compressed its batches itself would leave its connection idle meanwhile.
// Batches keep their order: what was sent when a load ends is the beginning of the source.
type Packed struct {
	source Source
	taking sync.Mutex        // of a batch and its place
	places chan (chan Batch) // one for each batch in the order of the source
	free   chan *bytes.Buffer
	quit   chan struct{}
	once   sync.Once
}

// NewPacked starts to compress for this number of workers.
func NewPacked(source Source, workers int) *Packed {
	packers := runtime.GOMAXPROCS(0)
	p := &Packed{source: source, places: make(chan (chan Batch), 2*packers), quit: make(chan struct{})}
	buffers := workers + 2*packers
	p.free = make(chan *bytes.Buffer, buffers)
	for range buffers {
		p.free <- new(bytes.Buffer)
	}
	var running sync.WaitGroup
	for range packers {
		running.Add(1)
		go func() {
			defer running.Done()
			p.pack()
		}()
	}
	go func() {
		running.Wait()
		close(p.places)
	}()
	return p
}

// take waits for the next batch of the source and reserves its place; false at the end.
func (p *Packed) take() (batch Batch, place chan Batch, more bool) {
	p.taking.Lock()
	defer p.taking.Unlock()
	if batch, more = p.source.Next(); !more {
		return batch, nil, false
	}
	place = make(chan Batch, 1)
	select {
	case p.places <- place:
		return batch, place, true
	case <-p.quit:
		return batch, nil, false
	}
}

// pack compresses until the source is empty or the load ends.
func (p *Packed) pack() {
	// The level is a constant of the library, so there is no error.
	writer, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed)
	for {
		var buffer *bytes.Buffer
		select {
		case buffer = <-p.free:
		case <-p.quit:
			return
		}
		batch, place, more := p.take()
		if !more {
			return
		}
		buffer.Reset()
		writer.Reset(buffer)
		// Writing to memory cannot fail.
		_, _ = writer.Write(batch.Bytes)
		_ = writer.Close()
		place <- Batch{
			Rows: batch.Rows, Values: batch.Values, Size: int64(len(batch.Bytes)),
			Bytes: buffer.Bytes(), Gzip: true, owner: buffer,
		}
		p.source.Release(batch)
	}
}

// Next waits for a compressed batch.
func (p *Packed) Next() (Batch, bool) {
	select {
	case <-p.quit:
		return Batch{}, false
	default:
	}
	place, more := <-p.places
	if !more {
		return Batch{}, false
	}
	return <-place, true
}

// Release returns the memory of a batch.
func (p *Packed) Release(batch Batch) { p.free <- batch.owner.(*bytes.Buffer) }

// Rows is how many there are.
func (p *Packed) Rows() int64 { return p.source.Rows() }

// Stop ends the source and the compression.
func (p *Packed) Stop() {
	p.once.Do(func() { close(p.quit) })
	p.source.Stop()
}
