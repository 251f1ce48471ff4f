package influx

import (
	"bytes"
	"regexp"
	"strconv"

	"benchbook/benchload/target"
	"benchbook/benchload/target/wire"
)

// client is one connection.
type client struct {
	conn      *wire.Conn
	writePath string
}

// Headers of batches.
const (
	plainHeaders = "Content-Type: text/plain; charset=utf-8\r\n"
	gzipHeaders  = plainHeaders + "Content-Encoding: gzip\r\n"
)

// Write sends a batch. Only a 2xx with nothing in its body, or with nothing
// about an error in it, acknowledges the rows.
func (c *client) Write(batch target.Batch) error {
	headers := plainHeaders
	if batch.Gzip {
		headers = gzipHeaders
	}
	response, err := c.conn.Do("POST", c.writePath, headers, batch.Bytes)
	if err != nil {
		failure := connectionFailure(err)
		failure.Refused = batch.Rows
		return failure
	}
	if response.Status == 204 && len(response.Body) == 0 {
		return nil
	}
	if failure := checkWrite(response.Status, response.Body); failure != nil {
		failure.Refused = refused(failure.Message, batch.Rows)
		return failure
	}
	return nil
}

// checkWrite tells what is wrong with the answer to a write.
func checkWrite(status int, body []byte) *target.Failure {
	if status >= 200 && status < 300 && len(bytes.TrimSpace(body)) == 0 {
		return nil
	}
	if failure := check(status, body); failure != nil {
		return failure
	}
	if bytes.Contains(bytes.ToLower(body), []byte("error")) {
		return &target.Failure{Kind: target.BadAnswer, Status: status, Message: message(body)}
	}
	return nil
}

// dropped is how InfluxDB says how many rows of a batch it did not take.
var dropped = regexp.MustCompile(`partial write: .*dropped=(\d+)`)

// refused is the number of rows of a batch that a message says are lost: all,
// unless the server says that it took a part.
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

// Query asks and reads the whole answer.
func (c *client) Query(text []byte) (target.Answer, error) {
	response, err := c.conn.Do("GET", string(text), "Accept: application/json\r\n", nil)
	if err != nil {
		return target.Answer{}, connectionFailure(err)
	}
	answer := target.Answer{Body: response.Body, Bytes: int64(len(response.Body)), Done: response.Done}
	if failure := check(response.Status, response.Body); failure != nil {
		return answer, failure
	}
	return answer, nil
}

// Interrupt ends a waiting operation.
func (c *client) Interrupt() { c.conn.Interrupt() }

// Close hangs up.
func (c *client) Close() { c.conn.Close() }
