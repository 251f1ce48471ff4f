package load

import (
	"bytes"
	"runtime"
	"sync"

	"github.com/klauspost/compress/gzip"
)

// Packed compresses the batches of a source on all cores ahead of the workers. A
// worker that compressed its batches itself would leave its connection idle meanwhile.
type Packed struct {
	source Source
	ready  chan Batch
	free   chan *bytes.Buffer
	quit   chan struct{}
	once   sync.Once
}

// NewPacked starts to compress for this number of workers.
func NewPacked(source Source, workers int) *Packed {
	packers := runtime.GOMAXPROCS(0)
	p := &Packed{source: source, ready: make(chan Batch, packers), quit: make(chan struct{})}
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
		close(p.ready)
	}()
	return p
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
		batch, more := p.source.Next()
		if !more {
			return
		}
		buffer.Reset()
		writer.Reset(buffer)
		// Writing to memory cannot fail.
		_, _ = writer.Write(batch.Bytes)
		_ = writer.Close()
		packed := Batch{
			Rows: batch.Rows, Values: batch.Values, Size: int64(len(batch.Bytes)),
			Bytes: buffer.Bytes(), Gzip: true, owner: buffer,
		}
		p.source.Release(batch)
		select {
		case p.ready <- packed:
		case <-p.quit:
			return
		}
	}
}

// Next waits for a compressed batch.
func (p *Packed) Next() (Batch, bool) {
	select {
	case <-p.quit:
		return Batch{}, false
	default:
	}
	batch, more := <-p.ready
	return batch, more
}

// Release gives the memory of a batch back.
func (p *Packed) Release(batch Batch) { p.free <- batch.owner.(*bytes.Buffer) }

// Rows is how many there are.
func (p *Packed) Rows() int64 { return p.source.Rows() }

// Stop ends the source and the compression.
func (p *Packed) Stop() {
	p.once.Do(func() { close(p.quit) })
	p.source.Stop()
}
