package e2e

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

// appServers are the packages of official example servers with apps, by the name of their tool.
var appServers = map[string]string{"get-time": "server-basic-vanillajs", "get-budget-data": "server-budget-allocator"}

// TestAppsLookAndCallTheSameThroughTheGateway renders the official example servers' apps in the official host, directly and
// through a gateway with other servers beside, one of them the same once more.
func TestAppsLookAndCallTheSameThroughTheGateway(t *testing.T) {
	node := testparts.Need(t)
	b := testparts.NewBrowser(t, "en-US")
	configuration := "mcpServers:\n  everything: " + entry(node.Command("mcp-server-everything", "stdio")) + "\n"
	for tool, program := range appServers {
		for _, n := range []string{"1", "2"} {
			if tool == "get-time" && n == "2" {
				continue // the app calls a tool that only one server may have
			}
			configuration += fmt.Sprintf("  %s-%s: %s\n", tool, n, entry(node.Script("@modelcontextprotocol/"+program+"/dist/index.js", "--stdio")))
		}
	}
	g := serve(t, write(t, configuration))
	backends := map[string]string{"/gateway": g.url}
	for tool, program := range appServers {
		backends["/"+tool] = serveApp(t, node.Script("@modelcontextprotocol/"+program+"/dist/index.js"))
	}
	host := serveHost(t, node, backends)

	for tool := range appServers {
		var looks [][]byte
		var shown, calls []string
		for _, at := range []struct{ endpoint, era, name string }{
			{"/" + tool + "/mcp", "legacy", tool}, {"/gateway/mcp", "legacy", tool + "-1__" + tool}, {"/gateway/mcp", "modern", tool + "-1__" + tool},
			{"/gateway/mcp", "legacy", tool + "-2__" + tool},
		} {
			if at.name == "get-time-2__get-time" {
				continue
			}
			b.Begin(t)
			b.Do(chromedp.EmulateViewport(900, 700), chromedp.Navigate(host))
			b.Until("window.loaded")
			empty := b.Picture()
			b.Do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf("void show(%q, %q, %q).catch(e => { window.failed = String(e); })", at.endpoint, at.era, at.name)))
			b.Until("window.shown || window.failed")
			if failed := b.Read("window.failed"); failed != "undefined" {
				t.Fatalf("%+v: %s", at, failed)
			}
			if tool == "get-time" {
				pressFirstButton(b)
				calls = append(calls, b.Read("JSON.stringify(window.calls[0])"))
				continue // it shows the time
			}
			looks = append(looks, settledPicture(t, b))
			if bytes.Equal(looks[len(looks)-1], empty) {
				t.Errorf("%+v: nothing is to be seen", at)
			}
			shown = append(shown, b.Read("window.shown"))
		}
		for i := range looks {
			if !bytes.Equal(looks[i], looks[0]) || shown[i] != shown[0] {
				keepPictures(t, looks)
				t.Errorf("%s looks different through the gateway, way %d: %.300s", tool, i, shown[i])
			}
		}
		for i := range calls {
			if calls[i] != calls[0] || !strings.Contains(calls[i], `"isError":false`) {
				t.Errorf("%s calls %s, and through the gateway %s", tool, calls[0], calls[i])
			}
		}
	}
}

// pressFirstButton presses the first button of the app, once it is there to be pressed.
func pressFirstButton(b *testparts.Browser) {
	for end := time.Now().Add(patience); b.Read("window.calls.length") == "0" && time.Now().Before(end); time.Sleep(300 * time.Millisecond) {
		b.Do(chromedp.Focus("iframe"), chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(kb.Enter))
	}
}

// settledPicture is the page once three pictures in a row are the same: charts move in, and may take a moment to begin.
func settledPicture(t *testing.T, b *testparts.Browser) []byte {
	t.Helper()
	var last []byte
	same := 0
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(500 * time.Millisecond) {
		now := b.Picture()
		if !bytes.Equal(now, last) {
			same = 0
		}
		last = now
		if same++; same == 3 {
			return now
		}
	}
	t.Error("the page never comes to rest")
	return last
}

// keepPictures writes pictures that differ to the folder for screenshots, if there is one.
func keepPictures(t *testing.T, pictures [][]byte) {
	dir := os.Getenv("TOOLFIT_SCREENSHOTS")
	if dir == "" {
		return
	}
	for i, picture := range pictures {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("app-%d.png", i)), picture, 0o644); err != nil {
			t.Error(err)
		}
	}
}

// serveApp runs an example server over HTTP and returns its address.
func serveApp(t *testing.T, command []string) string {
	t.Helper()
	l := listen(t)
	_, port, _ := net.SplitHostPort(l.Addr().String())
	l.Close()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = append(os.Environ(), "PORT="+port)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if conn, err := net.Dial("tcp", "127.0.0.1:"+port); err == nil {
			conn.Close()
			return "http://127.0.0.1:" + port
		}
	}
	t.Fatalf("%s does not listen", command)
	return ""
}

// serveHost serves the host's page, the packages that it is made of, and servers under its own origin.
func serveHost(t *testing.T, node testparts.Node, backends map[string]string) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.Handle("/npm/", http.StripPrefix("/npm/", http.FileServer(http.Dir(node.Packages()))))
	mux.HandleFunc("/{$}", func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, "testdata/apphost.html") })
	for path, to := range backends {
		target, err := url.Parse(to)
		if err != nil {
			t.Fatal(err)
		}
		mux.Handle(path+"/", http.StripPrefix(path, &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			for _, name := range []string{"Origin", "Referer", "Sec-Fetch-Site", "Sec-Fetch-Mode", "Sec-Fetch-Dest"} {
				r.Out.Header.Del(name)
			}
		}}))
	}
	srv := httptest.NewServer(mux)
	t.Cleanup(func() {
		srv.CloseClientConnections()
		srv.Close()
	})
	return srv.URL
}
