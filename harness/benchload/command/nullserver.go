package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"benchbook/benchload/nullserver"
	"benchbook/benchload/request"
)

// nullServer serves until it is told to stop.
func nullServer(ctx context.Context, arguments []string, out, _ io.Writer) error {
	flags := request.NewFlags("null-server",
		"Serves HTTP as a database does, counts what it is sent and keeps nothing: what a client reaches against it is the client's own limit. "+
			"It prints its address as a JSON line and runs until it is interrupted.")
	listen := flags.Text("listen", "Where to listen.", "127.0.0.1:0", "an address and a port, such as 127.0.0.1:0")
	sealed := flags.Switch("sealed", "Does not decompress bodies: of compressed ones it counts requests and bytes, but no rows.")
	sleep := flags.Duration("sleep", "Holds every answer back for so long.", 0)
	stall := flags.Duration("stall", "Answers nothing for so long at the end of each period of --every.", 0)
	every := flags.Duration("every", "The period of --stall, from the first request on.", 10*time.Second)
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	if *stall >= *every {
		return request.Mistakef("--stall is %s, but the period --every is %s; give a shorter --stall or a longer --every.", *stall, *every)
	}
	listener, err := net.Listen("tcp", *listen)
	if err != nil {
		return request.Mistakef("--listen %s cannot be used (%s); give a free port, or :0 to have one chosen.", *listen, err)
	}
	server := nullserver.New()
	server.Sealed = *sealed
	server.Delay.Sleep, server.Delay.Stall, server.Delay.Every = *sleep, *stall, *every
	defer context.AfterFunc(ctx, server.Close)()
	if err := json.NewEncoder(out).Encode(map[string]any{
		"v": Schema, "type": "listening", "url": "http://" + listener.Addr().String(),
	}); err != nil {
		return fmt.Errorf("the address could not be written: %w", err)
	}
	if err := server.Serve(listener); err != nil && !errors.Is(err, nullserver.ErrClosed) {
		return fmt.Errorf("the server ended: %w", err)
	}
	return nil
}
