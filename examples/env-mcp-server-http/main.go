// Command env-mcp-server-http serves an environment over HTTP on this machine, at / and at
// /mcp. PORT says on which port; without it that is 3000, and 0 takes a free one. It never
// listens to other machines.
//
//	PORT=3000 env-mcp-server-http
package main

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"time"

	"github.com/toolfit/toolfit/env"
	"github.com/toolfit/toolfit/examples/workshop"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Getenv("PORT")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, port string) error {
	server, err := env.NewServer(nil, workshop.Options())
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", address(port))
	if err != nil {
		return err
	}
	web := &http.Server{Handler: routes(server), ReadHeaderTimeout: 10 * time.Second}
	context.AfterFunc(ctx, func() {
		server.Close()
		web.Close()
	})
	fmt.Fprintf(os.Stderr, "listening on http://localhost:%d\n", listener.Addr().(*net.TCPAddr).Port)
	if err := web.Serve(listener); err != http.ErrServerClosed {
		return err
	}
	return nil
}

func address(port string) string { return net.JoinHostPort("localhost", cmp.Or(port, "3000")) }

// routes serves the environment where people look for it.
func routes(server http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/{$}", server)
	mux.Handle("/mcp", server)
	return mux
}
