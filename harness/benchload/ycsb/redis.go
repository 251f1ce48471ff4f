package ycsb

import (
	"context"
	"errors"
	"net"
	"strconv"

	"github.com/redis/go-redis/v9"

	"benchbook/benchload/system"
)

// index is the sorted set of all keys, by which scans find the next ones.
const index = "usertable"

// hashes keeps records as hashes of a server that speaks the Redis protocol, as YCSB does.
type hashes struct {
	options redis.Options
	names   []string // of the fields
}

func newHashes(address string, p place) *hashes {
	s := &hashes{options: redis.Options{
		Addr: address, DialTimeout: p.Timeout, ReadTimeout: p.Timeout, WriteTimeout: p.Timeout,
		PoolSize: 1, MaxRetries: -1, DisableIdentity: true, Protocol: 2,
	}}
	for i := range p.fields {
		s.names = append(s.names, "field"+strconv.Itoa(i))
	}
	return s
}

func (s *hashes) Name() string { return "redis" }

// Prepare fails if there are records.
func (s *hashes) Prepare() error {
	connection := redis.NewClient(&s.options)
	defer connection.Close()
	found, err := connection.Exists(context.Background(), index).Result()
	if err == nil && found > 0 {
		return &system.Failure{Kind: system.NotEmpty, Message: "the server already holds records; empty it, or name another"}
	}
	return failed(err)
}

func (s *hashes) Connect() (Conn, error) {
	ctx, stop := context.WithCancel(context.Background())
	options := s.options
	return &hashConn{redis.NewClient(&options), ctx, stop, s.names}, nil
}

// hashConn is one connection.
type hashConn struct {
	connection *redis.Client
	ctx        context.Context
	stop       func()
	names      []string
}

// Insert adds the hash and its key to the index in one transaction.
func (c *hashConn) Insert(record *Record) error {
	values := make([]any, 0, 2*len(c.names))
	for i, value := range record.Fields {
		values = append(values, c.names[i], value)
	}
	_, err := c.connection.TxPipelined(c.ctx, func(pipe redis.Pipeliner) error {
		pipe.HSet(c.ctx, record.Key, values...)
		pipe.ZAdd(c.ctx, index, redis.Z{Member: record.Key})
		return nil
	})
	return failed(err)
}

func (c *hashConn) Update(key string, field int, value []byte) error {
	added, err := c.connection.HSet(c.ctx, key, c.names[field], value).Result()
	if err == nil && added != 0 {
		return wrong("an update added a field that its record did not have")
	}
	return failed(err)
}

func (c *hashConn) Read(key string, into []Record) ([]Record, error) {
	held, err := c.connection.HGetAll(c.ctx, key).Result()
	return c.append(into, key, held), failed(err)
}

// Scan asks the index for the keys, and then for all their hashes at once.
func (c *hashConn) Scan(from string, count int, into []Record) ([]Record, error) {
	keys, err := c.connection.ZRangeByLex(c.ctx, index, &redis.ZRangeBy{Min: "[" + from, Max: "+", Count: int64(count)}).Result()
	if err != nil || len(keys) == 0 {
		return into, failed(err)
	}
	found := make([]*redis.MapStringStringCmd, len(keys))
	_, err = c.connection.Pipelined(c.ctx, func(pipe redis.Pipeliner) error {
		for i, key := range keys {
			found[i] = pipe.HGetAll(c.ctx, key)
		}
		return nil
	})
	if err != nil {
		return into, failed(err)
	}
	for i, one := range found {
		into = c.append(into, keys[i], one.Val())
	}
	return into, nil
}

// append appends a hash as a record; a key without one has none.
func (c *hashConn) append(into []Record, key string, held map[string]string) []Record {
	if len(held) == 0 {
		return into
	}
	record := Record{Key: key}
	for _, name := range c.names {
		if value, found := held[name]; found {
			record.Fields = append(record.Fields, []byte(value))
		}
	}
	return append(into, record)
}

// Interrupt ends a waiting operation.
func (c *hashConn) Interrupt() { c.stop() }

// Close closes the connection.
func (c *hashConn) Close() { _ = c.connection.Close() }

// failed converts an error of the driver to a failure; nil for no error.
func failed(err error) error {
	if err == nil {
		return nil
	}
	var waited net.Error
	var refused redis.Error
	switch {
	case errors.As(err, &waited) && waited.Timeout():
		return &system.Failure{Kind: system.Timeout, Message: "no answer within --timeout"}
	case errors.As(err, &refused):
		return &system.Failure{Kind: system.Refused, Message: err.Error()}
	}
	return &system.Failure{Kind: system.Connection, Message: err.Error(), Cause: err}
}
