package histogram

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"math"
)

// Cookies of the V2 format: of the counts, and of their compressed form. The
// third hexadecimal digit is the size of a word, which V2 fixes at one.
const (
	cookieCounts     = 0x1C849303 | 0x10
	cookieCompressed = 0x1C849304 | 0x10
)

// Encode gives the histogram in the compressed V2 format, in base64.
func (h *Histogram) Encode() string {
	counts := h.encodeCounts()
	body := make([]byte, 40, 40+len(counts))
	binary.BigEndian.PutUint32(body[0:], cookieCounts)
	binary.BigEndian.PutUint32(body[4:], uint32(len(counts)))
	binary.BigEndian.PutUint32(body[8:], 0) // offset of the counters
	binary.BigEndian.PutUint32(body[12:], Digits)
	binary.BigEndian.PutUint64(body[16:], Lowest)
	binary.BigEndian.PutUint64(body[24:], Highest)
	binary.BigEndian.PutUint64(body[32:], math.Float64bits(1))
	body = append(body, counts...)

	var out bytes.Buffer
	out.Write(make([]byte, 8))
	writer := zlib.NewWriter(&out)
	// Writing to memory does not fail.
	_, _ = writer.Write(body)
	_ = writer.Close()
	all := out.Bytes()
	binary.BigEndian.PutUint32(all[0:], cookieCompressed)
	binary.BigEndian.PutUint32(all[4:], uint32(len(all)-8))
	return base64.StdEncoding.EncodeToString(all)
}

// encodeCounts writes each count, and each run of zeros as a negative number,
// in the ZigZag LEB128 of HdrHistogram.
func (h *Histogram) encodeCounts() []byte {
	var out []byte
	zeros := int64(0)
	for _, n := range h.used() {
		if n == 0 {
			zeros++
			continue
		}
		if zeros > 0 {
			out = appendZigZag(out, -zeros)
			zeros = 0
		}
		out = appendZigZag(out, int64(n))
	}
	return out
}

// appendZigZag is LEB128 with a ninth byte of eight bits, unlike varint's ten bytes.
func appendZigZag(out []byte, value int64) []byte {
	n := uint64(value<<1 ^ value>>63)
	for range 8 {
		if n < 0x80 {
			return append(out, byte(n))
		}
		out = append(out, byte(n)|0x80)
		n >>= 7
	}
	return append(out, byte(n))
}
