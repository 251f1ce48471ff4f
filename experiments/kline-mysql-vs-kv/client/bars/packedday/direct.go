package packedday

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/redis/go-redis/v9"

	"benchbook/benchload/system"
	"benchbook/experiments/kline-mysql-vs-kv/client/bars"
)

// Direct is Redis or Kvrocks, which the client reads directly.
type Direct struct {
	options redis.Options
}

// NewDirect creates a store; address is HOST:PORT.
func NewDirect(address string, timeout time.Duration) *Direct {
	return &Direct{redis.Options{
		Addr: address, DialTimeout: timeout, ReadTimeout: timeout, WriteTimeout: timeout,
		PoolSize: 1, MaxRetries: -1, DisableIdentity: true, Protocol: 2,
	}}
}

// Name returns the name of the kind of system.
func (d *Direct) Name() string { return "redis" }

// Prepare refuses a server that holds keys.
func (d *Direct) Prepare() error {
	connection := d.connect()
	defer connection.Close()
	keys, _, err := connection.Scan(context.Background(), 0, "", 1).Result()
	if err != nil {
		return failureOf(err)
	}
	if len(keys) > 0 {
		return &system.Failure{Kind: system.NotEmpty, Message: "the server already holds keys; empty it, or name another"}
	}
	return nil
}

// Connect creates a client.
func (d *Direct) Connect() (bars.Conn, error) {
	ctx, stop := context.WithCancel(context.Background())
	return &direct{connection: d.connect(), ctx: ctx, stop: stop}, nil
}

func (d *Direct) connect() *redis.Client {
	options := d.options
	return redis.NewClient(&options)
}

// direct is one connection.
type direct struct {
	connection *redis.Client
	ctx        context.Context
	stop       func()
	fields     []string
	packed     []byte
}

// Write stores each day as one field, all in one command.
func (c *direct) Write(all []bars.Bar) error {
	values := make([]any, 0, 2*(len(all)/240+1))
	for first := 0; first < len(all); {
		end, day := first, all[first].Time/daySeconds
		for end < len(all) && all[end].Time/daySeconds == day {
			end++
		}
		packed := make([]byte, 0, bars.Size*(end-first))
		for i := first; i < end; i++ {
			packed = all[i].Append(packed)
		}
		values = append(values, Field(all[first].Stock, all[first].Time), packed)
		first = end
	}
	if len(values) == 0 {
		return nil
	}
	return failureOf(c.connection.HSet(c.ctx, Key(all[0].Stock), values...).Err())
}

// Read reads the days that a request touches and decodes the bars in its range.
// Without decode it only checks the length of the answer.
func (c *direct) Read(request *bars.Request, decode bool, answer *bars.Answer) error {
	c.fields = fields(c.fields[:0], request)
	values, err := c.connection.HMGet(c.ctx, Key(request.Stock), c.fields...).Result()
	if err != nil {
		return failureOf(err)
	}
	for _, value := range values {
		text, ok := value.(string)
		if !ok {
			continue // a day without bars
		}
		answer.Bytes += int64(len(text))
		if decode {
			c.packed = append(c.packed[:0], text...)
			answer.Bars = Take(answer.Bars, c.packed, request)
		}
	}
	answer.Rows = answer.Bytes / bars.Size
	if decode {
		answer.Rows = int64(len(answer.Bars))
	}
	return nil
}

// Interrupt ends a waiting operation and all later ones.
func (c *direct) Interrupt() { c.stop() }

// Close closes the connection.
func (c *direct) Close() {
	_ = c.connection.Close()
	c.stop()
}

// failureOf converts an error to a failure.
func failureOf(err error) error {
	if err == nil {
		return nil
	}
	var answered redis.Error
	if errors.As(err, &answered) {
		return &system.Failure{Kind: system.Refused, Message: err.Error()}
	}
	var network net.Error
	if errors.As(err, &network) && network.Timeout() {
		return &system.Failure{Kind: system.Timeout, Message: "no complete answer in time"}
	}
	return &system.Failure{Kind: system.Connection, Message: err.Error()}
}
