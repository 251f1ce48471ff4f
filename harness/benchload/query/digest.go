package query

import (
	"hash/maphash"
	"math"
	"sync"

	"benchbook/benchload/event"
	"benchbook/benchload/query/spec"
)

const (
	// near is how much the sums of equal answers may differ, relative to their size: servers that
	// add in parallel add in any order.
	near = 1e-6
	// large is from where on a whole number counts exactly: as a time, it would drown the values in a sum.
	large = 1_000_000_000
	// mostDigits of a number fit 64 bits; more change its value by nothing.
	mostDigits = 18
	// mostPower of ten is that of a number whose sums stay finite.
	mostPower = 200
	// FNV-1a in 64 bits.
	offset, prime = 14695981039346656037, 1099511628211
)

// class of a byte.
type class uint8

const (
	other class = iota
	digit
	letter
)

// classes of all bytes: a table is faster than comparisons.
var classes = func() (table [256]class) {
	for c := range table {
		switch b := byte(c); {
		case b >= '0' && b <= '9':
			table[c] = digit
		case b >= 'a' && b <= 'z', b >= 'A' && b <= 'Z', b == '_', b >= 0x80:
			table[c] = letter
		}
	}
	return table
}()

// digestOf sums up an answer in text, whatever the order of its rows: its words and large
// whole numbers exactly, its other numbers by their sum.
func digestOf(body []byte) (d event.Digest) {
	for i := 0; i < len(body); {
		switch classes[body[i]] {
		case digit:
			negative := i > 0 && body[i-1] == '-' && (i < 2 || classes[body[i-2]] == other)
			n := number{}
			i = n.read(body, i)
			d.Numbers++
			if n.power == 0 && n.mantissa >= large {
				d.Exact += (n.mantissa ^ offset) * prime
				continue
			}
			value := n.value()
			d.Size += value
			if negative {
				value = -value
			}
			d.Sum += value
		case letter:
			hash := uint64(offset)
			for ; i < len(body) && classes[body[i]] != other; i++ {
				hash = (hash ^ uint64(body[i])) * prime
			}
			d.Exact += hash
		default:
			i++
		}
	}
	return d
}

// number is one in decimal digits: mantissa times ten to the power. The mantissa of a
// whole number that is larger than 64 bits is still the same for the same digits.
type number struct {
	mantissa uint64
	power    int
}

// read reads the number that begins at i and returns where it ends.
func (n *number) read(body []byte, i int) int {
	begun, mantissa := i, uint64(0)
	for ; i < len(body) && classes[body[i]] == digit; i++ {
		mantissa = mantissa*10 + uint64(body[i]-'0')
	}
	if i < len(body) && body[i] == '.' {
		i++
		for last := begun + mostDigits; i < len(body) && classes[body[i]] == digit; i++ {
			if i <= last {
				mantissa = mantissa*10 + uint64(body[i]-'0')
				n.power--
			}
		}
	}
	n.mantissa = mantissa
	if i+1 < len(body) && body[i]|0x20 == 'e' {
		return n.readPower(body, i)
	}
	return i
}

// readPower reads the power of ten after an e, if there is one.
func (n *number) readPower(body []byte, e int) int {
	i, sign, power := e+1, 1, 0
	if body[i] == '-' || body[i] == '+' {
		sign = int(',') - int(body[i])
		i++
	}
	if i == len(body) || classes[body[i]] != digit {
		return e
	}
	for ; i < len(body) && classes[body[i]] == digit; i++ {
		power = min(power*10+int(body[i]-'0'), mostPower)
	}
	n.power += sign * power
	return i
}

// value returns the number.
func (n *number) value() float64 {
	if n.power == 0 {
		return float64(n.mantissa)
	}
	return float64(n.mantissa) * math.Pow10(min(n.power, mostPower))
}

// alike reports whether two digests are of equal answers.
func alike(a, b event.Digest) bool {
	return a.Numbers == b.Numbers && a.Exact == b.Exact && math.Abs(a.Sum-b.Sum) <= near*max(a.Size, b.Size)
}

// different digests of one query are kept; a query that has more is wrong anyway.
const different = 3

// Seen keeps the digests of the answers to each query of a list. Nothing is allocated while it takes them.
type Seen struct {
	queries []seenOf
	seed    maphash.Seed
}

// seenOf are the digests of the answers to one query, each with how many answers have it.
type seenOf struct {
	id      int64
	lock    sync.Mutex
	same    uint64 // hash of the last answer with the first digest, which most answers repeat byte by byte
	digests [different]event.Digest
	answers [different]int64
	others  int64
}

// NewSeen returns one for these queries.
func NewSeen(queries []spec.Query) *Seen {
	s := &Seen{make([]seenOf, len(queries)), maphash.MakeSeed()}
	for i := range queries {
		s.queries[i].id = queries[i].ID
	}
	return s
}

// add takes an answer to the query at this place and returns its digest.
func (s *Seen) add(place int, body []byte) event.Digest {
	query, hash := &s.queries[place], maphash.Bytes(s.seed, body)
	query.lock.Lock()
	defer query.lock.Unlock()
	if query.answers[0] > 0 && query.same == hash {
		query.answers[0]++
		return query.digests[0]
	}
	digest := digestOf(body)
	for i := range query.digests {
		if query.answers[i] == 0 {
			query.digests[i] = digest
		}
		if alike(query.digests[i], digest) {
			query.answers[i]++
			if i == 0 {
				query.same = hash
			}
			return digest
		}
	}
	query.others++
	return digest
}

// Event returns what was seen.
func (s *Seen) Event() event.Answered {
	answered := event.Answered{Answers: []event.Seen{}}
	for place := range s.queries {
		query := &s.queries[place]
		add := func(answers int64, digest event.Digest) {
			if answers > 0 {
				answered.Answers = append(answered.Answers, event.Seen{ID: query.id, Answers: answers, Digest: digest})
			}
		}
		for i, answers := range query.answers {
			add(answers, query.digests[i])
		}
		add(query.others, event.Digest{Numbers: -1})
	}
	return answered
}
