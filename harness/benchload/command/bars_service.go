package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"benchbook/benchload/bars/packedday"
	"benchbook/benchload/request"
)

// barsService serves packed days until it is told to stop.
func barsService(ctx context.Context, arguments []string, out, _ io.Writer) error {
	flags := request.NewFlags("bars-service",
		"Serves bars over HTTP from the packed days of Redis or Kvrocks: GET /bars?stock=1&from=S&to=S, times in seconds since 1970. "+
			"It prints its address as a JSON line and runs until it is interrupted.")
	listen := flags.Text("listen", "Where to listen.", "127.0.0.1:0", "an address and a port, such as 127.0.0.1:0")
	store := flags.Text("store", "The server that holds the days.", "", "the address of a server, such as redis://127.0.0.1:6379")
	connections := flags.Count("connections", "Connections to that server.", 96, 1, 4096)
	timeout := flags.Duration("timeout", "How long to wait for it.", 30*time.Second)
	flags.Require("store")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	address, err := url.Parse(*store)
	if err != nil || address.Scheme != "redis" || address.Port() == "" {
		return request.Mistakef("--store %q is no address of Redis; give one such as redis://127.0.0.1:6379.", *store)
	}
	listener, err := net.Listen("tcp", *listen)
	if err != nil {
		return request.Mistakef("--listen %s cannot be used (%s); give a free port, or :0 to have one chosen.", *listen, err)
	}
	server := &http.Server{
		Handler:           packedday.NewService(address.Host, int(*connections), *timeout),
		ReadHeaderTimeout: *timeout,
	}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	if err := json.NewEncoder(out).Encode(map[string]any{
		"v": Schema, "type": "listening", "url": "http://" + listener.Addr().String(),
	}); err != nil {
		return fmt.Errorf("the address could not be written: %w", err)
	}
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("the service ended: %w", err)
	}
	return nil
}
