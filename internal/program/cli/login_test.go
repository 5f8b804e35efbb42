package cli

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/cookiejar"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/testkit/authserver"
)

// withTracker is a world with a server to which people sign in.
func withTracker(t *testing.T) (*world, *authserver.Server) {
	w := newWorld(t)
	as := authserver.New(t)
	w.vars["TOOLFIT_SECRET_KEY"] = "0123456789abcdef0123456789abcdef"
	put(t, "toolfit.yaml", "mcpServers:\n  tracker: {url: \""+as.MCP+"\", oauth: {as: user}}\n")
	return w, as
}

// eventually waits for a text, and returns the first group in it.
func eventually(t *testing.T, in *safeBuffer, pattern string) string {
	t.Helper()
	expression := regexp.MustCompile(pattern)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for began := time.Now(); time.Since(began) < patience; <-tick.C {
		if m := expression.FindStringSubmatch(in.String()); m != nil {
			return m[1]
		}
	}
	t.Fatalf("no %s in %s", pattern, in.String())
	return ""
}

// serving runs a gateway until the test ends.
func (w *world) serving(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var out safeBuffer
	ended := make(chan int, 1)
	go func() { ended <- w.runTo(ctx, &out, &out, "serve", "--listen", "127.0.0.1:0") }()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	eventually(t, &out, `agents\s+(http://\S+)/mcp`)
}

// browse opens a page as a person's browser does, and follows the links that the pattern finds.
func browse(page string, links ...string) (body string, err error) {
	jar, _ := cookiejar.New(nil) // never an error
	client := &http.Client{Jar: jar}
	for {
		resp, err := client.Get(page)
		if err != nil {
			return "", err
		}
		text, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || len(links) == 0 {
			return string(text), err
		}
		m := regexp.MustCompile(links[0]).FindStringSubmatch(string(text))
		if m == nil {
			return "", errors.New("no such link in " + string(text))
		}
		page = resp.Request.URL.Scheme + "://" + resp.Request.URL.Host + m[1]
		links = links[1:]
	}
}

// TestLoginOpensTheBrowser: the link signs in to the console once, and leads to the page of the server.
func TestLoginOpensTheBrowser(t *testing.T) {
	w, _ := withTracker(t)
	w.serving(t)
	var out, errs safeBuffer
	env := w.env("", &out, &errs)
	opened := make(chan string, 1)
	env.Open = func(page string) error {
		opened <- page
		return errors.New("no screen")
	}
	browsed := make(chan error, 1)
	go func() {
		body, err := browse(<-opened, `href="(/connect/tracker/begin)"`)
		if err == nil && !strings.Contains(body, "You are connected.") {
			err = errors.New(body)
		}
		browsed <- err
	}()
	code := Run(t.Context(), []string{"login", "tracker"}, env)
	if err := <-browsed; err != nil {
		t.Fatal(err)
	}
	if code != 0 || out.String() != "connected to tracker\n" || !strings.Contains(errs.String(), "no browser was opened: no screen") {
		t.Errorf("%d: %s%s", code, out.String(), errs.String())
	}
	once := regexp.MustCompile(`http://\S+/sign-in\?once=\S+`).FindString(errs.String())
	if body, err := browse(once); err != nil || !strings.Contains(body, `href="/connect/tracker?again=1"`) {
		t.Errorf("the link opens the console twice: %v %.500s", err, body)
	}
	if code, _, said := w.run(t, "login", "nothing"); code != 1 || !strings.Contains(said, `no server "nothing" to which people sign in`) {
		t.Errorf("%d: %s", code, said)
	}
}

func TestLoginByPaste(t *testing.T) {
	w, as := withTracker(t)
	var out, errs safeBuffer
	env := w.env("", &out, &errs)
	in, pasted := io.Pipe()
	env.In = in
	done := make(chan int, 1)
	go func() { done <- Run(t.Context(), []string{"login", "tracker", "--paste", "--json"}, env) }()
	page := eventually(t, &errs, `(http://\S+/authorize\?\S+)\n`)
	stay := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := stay.Get(page)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	io.WriteString(pasted, "  "+resp.Header.Get("Location")+" \n")
	if code := <-done; code != 0 || !strings.Contains(out.String(), `"connected": "tracker"`) || strings.Contains(errs.String(), "secret-") {
		t.Errorf("%d: %s%s", code, out.String(), errs.String())
	}
	if code, text, said := w.run(t, "connections"); code != 0 || !strings.Contains(text, "connected") {
		t.Errorf("%d: %s%s", code, text, said)
	}
	if code, _, said := w.run(t, "logout", "tracker"); code != 0 || !as.Ended() {
		t.Errorf("%d: %s", code, said)
	}
}

func TestOnlyPagesAreOpenedInTheBrowser(t *testing.T) {
	for _, page := range []string{"", "file:///etc/passwd", "javascript:alert(1)", "--help", "/connect/x", "http:///x"} {
		if err := openBrowser(page); err == nil || !strings.Contains(err.Error(), "not the address of a page") {
			t.Errorf("%q: %v", page, err)
		}
	}
}
