package trial

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/toolfit/toolfit/internal/browsertest/steps"
)

// Serve serves the folders that suites name on loopback ports, and makes these their base.
func Serve(suites []*steps.Suite) (stop func(), err error) {
	var ends []func()
	stop = func() {
		for _, end := range ends {
			end()
		}
	}
	for _, s := range suites {
		if s.Serve == "" {
			continue
		}
		dir := s.Serve
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(filepath.Dir(s.File), dir)
		}
		base, end, err := serveFolder(dir)
		if err != nil {
			stop()
			return nil, fmt.Errorf("%s: serve %s: %w", s.File, s.Serve, err)
		}
		s.Base = base
		ends = append(ends, end)
	}
	return stop, nil
}

// serveFolder serves what lies in a folder, and nothing that a link in it leads to outside.
func serveFolder(dir string) (base string, end func(), err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, errors.Join(err, root.Close())
	}
	srv := &http.Server{Handler: http.FileServerFS(root.FS()), ReadHeaderTimeout: 10 * time.Second}
	done := make(chan struct{})
	go func() {
		defer close(done)
		srv.Serve(l) // until it is shut down
	}()
	return "http://" + l.Addr().String(), func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if srv.Shutdown(ctx) != nil {
			srv.Close()
		}
		<-done
		root.Close()
	}, nil
}
