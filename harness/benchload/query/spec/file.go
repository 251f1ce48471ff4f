package spec

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// names are what tables, fields and hosts may be called: what needs no quotes
// in any of the query languages.
var names = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]*$`)

// maxLine is the longest line of a query file.
const maxLine = 16 << 20

// Read reads queries, one JSON object per line, and gives the digest of the file.
func Read(in io.Reader) (queries []Query, digest string, err error) {
	hash := sha256.New()
	lines := bufio.NewScanner(io.TeeReader(in, hash))
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	number := 0
	for lines.Scan() {
		number++
		if strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		var q Query
		if err := json.Unmarshal(lines.Bytes(), &q); err != nil {
			return nil, "", fmt.Errorf("line %d is not a query (%w); make the file with benchload queries", number, err)
		}
		if err := q.check(); err != nil {
			return nil, "", fmt.Errorf("line %d is not a query: %w", number, err)
		}
		queries = append(queries, q)
	}
	if err := lines.Err(); err != nil {
		return nil, "", fmt.Errorf("the queries could not be read after line %d: %w", number, err)
	}
	return queries, hex.EncodeToString(hash.Sum(nil)), nil
}

// check returns what is wrong with a query.
func (q *Query) check() error {
	if q.Form != "" {
		return q.checkForm()
	}
	for _, name := range append([]string{q.Table, q.Field}, q.Hosts...) {
		if !names.MatchString(name) {
			return fmt.Errorf("the name %q is not made of letters, digits, points and dashes", name)
		}
	}
	switch {
	case q.Aggregate != "max" && q.Aggregate != "mean":
		return fmt.Errorf("aggregate is %q; allowed are max and mean", q.Aggregate)
	case q.BucketNS <= 0:
		return fmt.Errorf("bucket_ns is %d; it must be above zero", q.BucketNS)
	case q.EndNS <= q.StartNS:
		return fmt.Errorf("end_ns %d is not after start_ns %d", q.EndNS, q.StartNS)
	}
	return nil
}

// Write writes queries, one JSON object per line.
func Write(out io.Writer, queries []Query) error {
	buffered := bufio.NewWriter(out)
	encoder := json.NewEncoder(buffered)
	for i := range queries {
		if err := encoder.Encode(&queries[i]); err != nil {
			return err
		}
	}
	return buffered.Flush()
}
