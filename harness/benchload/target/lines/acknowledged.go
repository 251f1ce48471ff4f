package lines

import (
	"bytes"
	"regexp"
	"strconv"

	"benchbook/benchload/system"
)

// checkWrite returns what is wrong with the answer to a write.
func checkWrite(status int, body []byte) *system.Failure {
	if status >= 200 && status < 300 && len(bytes.TrimSpace(body)) == 0 {
		return nil
	}
	if failure := Check(status, body); failure != nil {
		return failure
	}
	if bytes.Contains(bytes.ToLower(body), []byte("error")) {
		return &system.Failure{Kind: system.BadAnswer, Status: status, Message: Message(body)}
	}
	return nil
}

// dropped matches how InfluxDB reports how many rows of a batch it rejected.
var dropped = regexp.MustCompile(`partial write: .*dropped=(\d+)`)

// refused returns the number of rows of a batch that a message reports as lost: all of
// them, unless the server reports a partial write.
func refused(message string, rows int64) int64 {
	found := dropped.FindStringSubmatch(message)
	if found == nil {
		return rows
	}
	n, err := strconv.ParseInt(found[1], 10, 64)
	if err != nil || n <= 0 || n > rows {
		return rows
	}
	return n
}
