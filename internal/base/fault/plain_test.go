package fault_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
)

// alerts is the address of a server that answers what is no TLS with an alert of TLS.
func alerts(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.Read(make([]byte, 4096))
			c.Write([]byte("\x15\x03\x01\x00\x02\x02\x46"))
			c.Close()
		}
	}()
	return "http://" + l.Addr().String()
}

func TestErrorsOfTheSystemAreToldWithoutGosWords(t *testing.T) {
	get := func(url string, limit time.Duration) error {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		req, err := http.NewRequestWithContext(ctx, "GET", url, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err == nil {
			resp.Body.Close()
		}
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0") // it never answers
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	defer secure.Close()
	closes := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	defer closes.Close()
	for want, err := range map[string]error{
		"connection refused":          get("http://127.0.0.1:1/", time.Minute),
		"no answer in time":           get("http://"+l.Addr().String(), time.Millisecond),
		"its host name is not known":  &net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "x"}},
		"signed by unknown authority": get(secure.URL, time.Minute),
		"it speaks http":              get(strings.Replace(closes.URL, "http:", "https:", 1), time.Minute),
		"it speaks https":             get(alerts(t), time.Minute),
		"the connection was closed":   get(closes.URL, time.Minute),
		"no such file or directory":   exec.Command("/no/such/program").Run(),
	} {
		got := fault.Plain(err)
		if text := got.Error(); !strings.Contains(text, want) || strings.Contains(text, "127.0.0.1") || strings.Contains(text, "http: ") ||
			strings.Contains(text, "dial") || strings.Contains(text, "x509: ") {
			t.Errorf("%v: got %q, want %q", err, text, want)
		}
		if !errors.Is(got, err) {
			t.Errorf("%v is lost", err)
		}
	}
}
