package packedday

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"benchbook/experiments/kline-mysql-vs-kv/client/bars"
)

// Service answers GET /bars?stock=N&from=S&to=S with packed bars, which it reads from
// Redis or Kvrocks, in the role of the publication's QData.
type Service struct {
	connections *redis.Client
	buffers     sync.Pool
}

// room is memory for one answer.
type room struct {
	fields []string
	body   []byte
}

// NewService serves the days of the server at HOST:PORT, over this number of
// connections to it.
func NewService(address string, connections int, timeout time.Duration) *Service {
	return &Service{
		redis.NewClient(&redis.Options{
			Addr: address, PoolSize: connections, ReadTimeout: timeout, WriteTimeout: timeout,
			PoolTimeout: timeout, MaxRetries: -1, DisableIdentity: true, Protocol: 2,
		}),
		sync.Pool{New: func() any { return &room{} }},
	}
}

// ServeHTTP answers one request.
func (s *Service) ServeHTTP(out http.ResponseWriter, in *http.Request) {
	if in.URL.Path == "/ping" {
		if err := s.connections.Ping(in.Context()).Err(); err != nil {
			http.Error(out, err.Error(), http.StatusServiceUnavailable)
		}
		return
	}
	request, err := parse(in.URL.Query())
	if err != nil {
		http.Error(out, err.Error(), http.StatusBadRequest)
		return
	}
	r := s.buffers.Get().(*room)
	defer s.buffers.Put(r)
	if err := s.cut(in.Context(), r, &request); err != nil {
		http.Error(out, err.Error(), http.StatusBadGateway)
		return
	}
	if len(r.body) == 0 {
		http.Error(out, "no bars in this range", http.StatusNotFound)
		return
	}
	out.Header().Set("Content-Type", "application/octet-stream")
	out.Header().Set("Content-Length", strconv.Itoa(len(r.body)))
	_, _ = out.Write(r.body) // a client that is gone needs no answer
}

// cut reads the days that a request touches and keeps its bars.
func (s *Service) cut(ctx context.Context, r *room, request *bars.Request) error {
	r.fields = fields(r.fields[:0], request)
	values, err := s.connections.HMGet(ctx, Key(request.Stock), r.fields...).Result()
	if err != nil {
		return err
	}
	r.body = r.body[:0]
	for _, value := range values {
		if text, ok := value.(string); ok {
			r.body = Cut(r.body, []byte(text), request)
		}
	}
	return nil
}

// most is the longest range that the service accepts, in days.
const most = 366

// parse reads the parameters of a request.
func parse(query url.Values) (bars.Request, error) {
	var r bars.Request
	stock, err := strconv.ParseUint(query.Get("stock"), 10, 16)
	if err != nil || stock == 0 {
		return r, fmt.Errorf("stock=%q is not the number of a stock; give 1 to 65535", query.Get("stock"))
	}
	r.Stock = uint16(stock)
	for name, place := range map[string]*int64{"from": &r.From, "to": &r.To} {
		if *place, err = strconv.ParseInt(query.Get(name), 10, 64); err != nil || *place < 0 {
			return r, fmt.Errorf("%s=%q is not a time; give seconds since 1970", name, query.Get(name))
		}
	}
	if r.To < r.From || r.To-r.From > most*daySeconds {
		return r, fmt.Errorf("from=%d to=%d is not a range of at most %d days", r.From, r.To, most)
	}
	return r, nil
}
