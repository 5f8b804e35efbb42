// Command toolfit fits any tool to any model: one gateway between agents and their tools.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/toolfit/toolfit/internal/program/cli"
)

// endWithin is how long a command may take to end once it is asked to: open calls have ten
// seconds, then servers are closed. What takes longer hangs.
var endWithin = 30 * time.Second

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, func() {
		stop() // who asks a second time does not want to wait
		time.AfterFunc(endWithin, func() {
			fmt.Fprintf(os.Stderr, "toolfit: something hangs; given up after %s\n", endWithin)
			os.Exit(1)
		})
	})
	code := cli.Run(ctx, os.Args[1:], cli.System())
	stop()
	os.Exit(code)
}
