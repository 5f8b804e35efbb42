package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"sync/atomic"
	"syscall"
	"unsafe"

	"github.com/toolfit/toolfit/internal/bench/upstream"
)

// The servers that this program runs as processes of their own, so that the CPU of each is known.
const (
	modeUpstream = "upstream"
	modeProxy    = "proxy"
)

// serveUpstream is the server behind the gateways: on standard input and output, or several on one
// address, each at a path with its number.
func serveUpstream(ctx context.Context, args []string) error {
	var o upstream.Options
	flags := flag.NewFlagSet(modeUpstream, flag.ContinueOnError)
	flags.StringVar(&o.Set, "set", upstream.SetBench, "which tools")
	flags.IntVar(&o.Tools, "tools", 200, "how many")
	flags.IntVar(&o.Server, "server", 0, "which of several servers")
	flags.BoolVar(&o.Modern, "modern", false, "speak both eras")
	count := flags.String("count", "", "file that counts messages")
	addr := flags.String("addr", "", "address to listen on; if empty, standard input and output")
	servers := flags.Int("servers", 1, "how many servers are at the address")
	err := flags.Parse(args)
	if err == nil && *count != "" {
		o.Count, err = counter(*count)
	}
	if err != nil {
		return err
	}
	if *addr == "" {
		s, err := upstream.New(&o)
		if err != nil {
			return err
		}
		return s.ServeLines(os.Stdin, os.Stdout)
	}
	mux := http.NewServeMux()
	for i := range *servers {
		o.Server = i
		s, err := upstream.New(&o)
		if err != nil {
			return err
		}
		mux.Handle(fmt.Sprintf("/%d/mcp", i), s)
		mux.HandleFunc(fmt.Sprintf("POST /%d/change", i), func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, s.Change()) })
	}
	return listen(ctx, *addr, mux)
}

func listen(ctx context.Context, addr string, h http.Handler) error {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	srv := &http.Server{Handler: h}
	context.AfterFunc(ctx, func() { srv.Close() })
	return srv.Serve(l)
}

// counter is a number in a file that all processes share that count messages.
func counter(file string) (*atomic.Int64, error) {
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	const size = int(unsafe.Sizeof(atomic.Int64{}))
	if err := f.Truncate(int64(size)); err != nil {
		return nil, err
	}
	page, err := syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("share %s: %w", file, err)
	}
	return (*atomic.Int64)(unsafe.Pointer(&page[0])), nil
}

// serveProxy is the baseline: the least that forwarding costs. It reads the request's body first, as
// every gateway must that looks at it.
func serveProxy(ctx context.Context, addr, to string) error {
	behind, err := url.Parse(to)
	if err != nil {
		return err
	}
	return listen(ctx, addr, newProxy(behind))
}

func newProxy(behind *url.URL) http.Handler {
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host, r.Out.URL.Path = behind.Scheme, behind.Host, behind.Path
		},
		// By default only two connections are kept, and the proxy would mostly dial.
		Transport: &http.Transport{MaxIdleConnsPerHost: 256, DisableCompression: true},
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		proxy.ServeHTTP(w, r)
	})
}
