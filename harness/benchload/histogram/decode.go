package histogram

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
)

// errCut is an encoded histogram that ends too early.
var errCut = errors.New("the histogram is cut off")

// maxEncoded is more than the largest body can have: nine bytes a counter.
const maxEncoded = 40 + 9*counters

// Decode reads what Encode wrote. Sum, Min and Max are those of the counters: what
// is known better is for the caller to set.
func Decode(text string) (*Histogram, error) {
	all, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("the histogram is not base64: %w", err)
	}
	if len(all) < 8 || binary.BigEndian.Uint32(all) != cookieCompressed {
		return nil, errors.New("the histogram is not in the compressed V2 format")
	}
	reader, err := zlib.NewReader(bytes.NewReader(all[8:]))
	if err != nil {
		return nil, fmt.Errorf("the histogram cannot be decompressed: %w", err)
	}
	body, err := io.ReadAll(io.LimitReader(reader, maxEncoded+1))
	if err != nil {
		return nil, fmt.Errorf("the histogram cannot be decompressed: %w", err)
	}
	switch {
	case len(body) < 40:
		return nil, errCut
	case len(body) > maxEncoded:
		return nil, errors.New("the histogram has too many counters")
	case binary.BigEndian.Uint32(body) != cookieCounts:
		return nil, errors.New("the histogram is not in the V2 format")
	case binary.BigEndian.Uint32(body[12:]) != Digits || binary.BigEndian.Uint64(body[16:]) != Lowest || binary.BigEndian.Uint64(body[24:]) != Highest:
		return nil, errors.New("the histogram has another range than those of benchload")
	}
	h := &Histogram{counts: make([]uint64, counters)}
	return h, h.decodeCounts(body[40:])
}

// decodeCounts reads the counts and the runs of zeros.
func (h *Histogram) decodeCounts(text []byte) error {
	for at := int64(0); len(text) > 0; {
		value, rest, err := cutZigZag(text)
		if err != nil {
			return err
		}
		text = rest
		if value < 0 {
			if value < -counters {
				return errors.New("the histogram has too many counters")
			}
			at -= value
			continue
		}
		if at >= int64(index(Highest)+1) {
			return errors.New("the histogram has too many counters")
		}
		if value > 0 {
			if h.Count == 0 {
				h.Min = lowestOf(int(at))
			}
			h.counts[at] = uint64(value)
			h.Max = min(highestOf(int(at)), Highest)
			sum, carry := bits.Add64(h.Count, uint64(value), 0)
			if carry != 0 {
				return errors.New("the histogram has more values than can be counted")
			}
			h.Count = sum
			h.Sum += float64(value) * (float64(lowestOf(int(at))) + float64(highestOf(int(at)))) / 2
		}
		at++
	}
	return nil
}

// cutZigZag takes one number off a text.
func cutZigZag(text []byte) (value int64, rest []byte, err error) {
	n := uint64(0)
	for i, b := range text {
		if i == 8 {
			n |= uint64(b) << 56
			return int64(n>>1) ^ -int64(n&1), text[9:], nil
		}
		n |= uint64(b&0x7F) << (7 * i)
		if b < 0x80 {
			return int64(n>>1) ^ -int64(n&1), text[i+1:], nil
		}
	}
	return 0, nil, errCut
}
