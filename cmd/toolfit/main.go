// Command toolfit fits any tool to any model: one gateway between agents and their tools.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/toolfit/toolfit/internal/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // who asks a second time does not want to wait
	code := cli.Run(ctx, os.Args[1:], cli.System())
	stop()
	os.Exit(code)
}
