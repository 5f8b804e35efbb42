// Command env-mcp-server serves an environment whose options are written by hand, on
// standard input and output. It has no tools of its own.
//
//	env-mcp-server
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"github.com/toolfit/toolfit/env"
	"github.com/toolfit/toolfit/examples/workshop"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	server, err := env.NewServer(nil, workshop.Options())
	if err != nil {
		return err
	}
	return server.Run(ctx, os.Stdin, os.Stdout)
}
