package program

import (
	"context"
	"errors"
	"fmt"
	"time"

	"benchbook/benchload/command"
	"benchbook/benchload/nullserver"
)

// nullServerCommand serves until it is interrupted.
type nullServerCommand struct {
	Listen string        `default:"127.0.0.1:0" placeholder:"HOST:PORT" help:"Where to listen. Default: a free port of ${default}."`
	Sealed bool          `help:"Do not decompress bodies: of compressed ones count requests and bytes, but no rows."`
	Sleep  time.Duration `placeholder:"LENGTH" help:"Hold every answer back for so long."`
	Stall  time.Duration `placeholder:"LENGTH" help:"Answer nothing for so long at the end of each period of --every."`
	Every  time.Duration `default:"10s" placeholder:"LENGTH" help:"The period of --stall, from the first request on. Default: ${default}."`
}

// Help describes it.
func (nullServerCommand) Help() string {
	return "Serves HTTP as InfluxDB does, counts what it receives and keeps nothing: what a client reaches against it is the limit of the " +
		"client. It prints its address as a JSON line and runs until it is interrupted."
}

// Run serves.
func (n *nullServerCommand) Run(c *command.Console) error {
	if n.Stall >= n.Every {
		return command.Mistakef("--stall is %s, but the period --every is %s; give a shorter --stall or a longer --every.", n.Stall, n.Every)
	}
	server := nullserver.New()
	server.Sealed = n.Sealed
	server.Delay.Sleep, server.Delay.Stall, server.Delay.Every = n.Sleep, n.Stall, n.Every
	listener, err := c.Listen(n.Listen)
	if err != nil {
		return err
	}
	defer context.AfterFunc(c.Context, server.Close)()
	if err := server.Serve(listener); err != nil && !errors.Is(err, nullserver.ErrClosed) {
		return fmt.Errorf("the server ended: %w", err)
	}
	return nil
}
