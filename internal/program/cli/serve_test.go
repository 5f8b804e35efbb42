package cli

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

func TestServeOnATakenAddressStartsNothing(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer server.Close()
	w := newWorld(t)
	put(t, "toolfit.yaml", "listen: "+taken.Addr().String()+"\nmcpServers: {web: {url: \""+server.URL+"\"}}\n")
	code, _, stderr := w.run(t, "serve")
	if code != 1 || !strings.Contains(stderr, "cannot listen on "+taken.Addr().String()) ||
		!strings.Contains(stderr, "is another gateway running?") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	if exists("toolfit.db") || asked.Load() > 0 {
		t.Errorf("the store was opened, or the server asked %d times", asked.Load())
	}
}
