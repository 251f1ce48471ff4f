package load

import (
	"bytes"

	"github.com/klauspost/compress/gzip"
)

// packer compresses batches, with memory that is used again.
type packer struct {
	out    bytes.Buffer
	writer *gzip.Writer
}

// pack compresses a body at the level that a loader can afford. The result is
// valid until the next call.
func (p *packer) pack(body []byte) []byte {
	p.out.Reset()
	if p.writer == nil {
		// The level is a constant of the library: it cannot be wrong.
		p.writer, _ = gzip.NewWriterLevel(&p.out, gzip.BestSpeed)
	} else {
		p.writer.Reset(&p.out)
	}
	// Writing to memory does not fail.
	_, _ = p.writer.Write(body)
	_ = p.writer.Close()
	return p.out.Bytes()
}
