package picker

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// browser is a real one, with one open tab.
type browser struct {
	t   *testing.T
	ctx context.Context

	mu      sync.Mutex
	console []string // what the page complained of
}

// newBrowser starts a browser of its own, which prefers the language.
func newBrowser(t *testing.T, language string) *browser {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil && path == "" {
			path = found
		}
	}
	if path == "" {
		t.Skip("no Chromium on PATH: the page is not tried in a browser")
	}
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.Flag("accept-lang", language))
	alloc, stop := chromedp.NewExecAllocator(context.Background(), opts...)
	tab, closeTab := chromedp.NewContext(alloc)
	b := &browser{t: t, ctx: tab}
	var listening sync.WaitGroup
	t.Cleanup(func() { closeTab(); stop(); listening.Wait() })
	b.do(chromedp.Navigate("about:blank")) // starts it
	messages := chromedp.Console(tab)
	listening.Go(func() {
		for m, err := range messages {
			if err != nil {
				return // it has ended
			}
			b.mu.Lock()
			b.console = append(b.console, m.String())
			b.mu.Unlock()
		}
	})
	return b
}

// begin lets another test use the browser.
func (b *browser) begin(t *testing.T) {
	b.t = t
	b.do(chromedp.Navigate("about:blank"))
	b.mu.Lock()
	defer b.mu.Unlock()
	b.console = nil
}

// quiet fails the test when the page complained.
func (b *browser) quiet() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.console) > 0 {
		b.t.Errorf("the browser's console is not empty: %q", b.console)
	}
}

const patience = 30 * time.Second // with the machine, not with the page

func (b *browser) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

// read gives the value of an expression.
func (b *browser) read(expression string) string {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[string]("String("+expression+")"))
	if err != nil {
		b.t.Fatal(err)
	}
	return v
}

// until waits for a condition of the page. It asks again and again: while a page is loaded
// there is for a moment nobody to ask.
func (b *browser) until(condition string) {
	b.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for began := time.Now(); time.Since(began) < patience; <-tick.C {
		if ok, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool]("Boolean("+condition+")")); err == nil && ok {
			return
		}
	}
	b.t.Fatalf("%s does not hold; the page says %.500s", condition, b.read("document.body.innerText"))
}

func (b *browser) says(text string) {
	b.t.Helper()
	b.until(`document.getElementById("state").textContent.includes("` + text + `")`)
}

// many is a list of n environments, the first of which tries to be HTML.
func many(n int) string {
	var rows []string
	for i := range n {
		rows = append(rows, fmt.Sprintf(`{"EnvId":"env-%02d","Alias":"<img src=x onerror=alert(1)>%d","Status":"NORMAL","Region":"ap-shanghai","IsDefault":%t,"Databases":[{"InstanceId":"tnt-%d"}]}`, i, i, i == 0, i))
	}
	return "[" + strings.Join(rows, ",") + "]"
}

// TestThePageInRealBrowsers shares two browsers, one for Chinese and one for English: they
// take longer to start than all that is tried in them.
func TestThePageInRealBrowsers(t *testing.T) {
	zh, en := newBrowser(t, "zh-CN"), newBrowser(t, "en-US")
	for _, c := range []struct {
		name string
		try  func(t *testing.T, zh, en *browser)
	}{
		{"a person picks on a phone", tryPhone},
		{"two browsers at once do not mix, and share one page", tryTwo},
		{"a page of another site cannot answer", tryForeign},
		{"a link works until the call ends", tryEnded},
		{"a page comes back after its connection was lost", tryLost},
	} {
		t.Run(c.name, func(t *testing.T) {
			zh.begin(t)
			en.begin(t)
			c.try(t, zh, en)
		})
	}
}

func tryPhone(t *testing.T, b, _ *browser) {
	d := newDesk(t, nil)
	w := d.open(Question{Message: "上线用哪个环境？<script>alert(1)</script>", List: give(many(40))})
	b.do(chromedp.EmulateViewport(360, 740, chromedp.EmulateMobile), chromedp.Navigate(w.URL()))
	b.until(`document.querySelectorAll("#list li").length === 40`)
	b.says("共 40 个环境")
	dark := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}}
	if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, dark); err != nil {
		t.Fatal(err)
	}
	for expression, want := range map[string]string{
		`document.querySelector("h1").textContent`:           "选择环境",
		`document.querySelector("blockquote").textContent`:   "上线用哪个环境？<script>alert(1)</script>",
		`document.querySelector("#list .alias").textContent`: "<img src=x onerror=alert(1)>0",
		`document.documentElement.scrollWidth <= innerWidth`: "true",
		`getComputedStyle(document.body).backgroundColor`:    "rgb(21, 24, 23)",
		`document.getElementById("pick").disabled`:           "true",
	} {
		if got := b.read(expression); got != want {
			t.Errorf("%s is %q, want %q", expression, got, want)
		}
	}
	b.do(chromedp.SendKeys("#filter", "env-17"))
	b.until(`document.querySelectorAll("#list li").length === 1`)
	b.do(chromedp.Click("summary"))
	b.until(`/Databases[^]*tnt-17/.test(document.querySelector("#list pre").textContent)`)
	b.do(chromedp.Click("#list label"), chromedp.Click("#pick"))
	b.says("已选择 env-17")
	if c := result(t, w); c != (Choice{Picked, "env-17"}) {
		t.Errorf("got %+v", c)
	}
	b.quiet()
}

func tryTwo(t *testing.T, one, two *browser) {
	d := newDesk(t, nil)
	first, second := d.open(Question{List: give(many(3))}), d.open(Question{List: give(many(5))})
	one.do(chromedp.Navigate(first.URL()))
	two.do(chromedp.Navigate(second.URL()))
	one.says("共 3 个环境")
	two.says("Environments: 5")
	two.do(chromedp.Click("#cancel"))
	two.says("Cancelled")
	one.do(chromedp.Click("#refresh"))
	one.says("共 3 个环境")
	if c := result(t, second); c.Outcome != Cancelled || first.isOver() {
		t.Errorf("got %+v", c)
	}
	two.do(chromedp.Navigate(first.URL())) // the same page in both
	two.says("Environments: 3")
	one.do(chromedp.Click("#switch"))
	one.says("切换账号")
	two.says("another account")
	if c := result(t, first); c.Outcome != Switched {
		t.Errorf("got %+v", c)
	}
	one.quiet()
	two.quiet()
}

func tryForeign(t *testing.T, _, b *browser) {
	d := newDesk(t, nil)
	w := d.open(Question{})
	evil := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(rw, `<body><script>
			const s = new WebSocket(%q);
			s.onopen = () => { s.send('{"type":"registerSession","sessionId":"%s"}'); s.send('{"type":"envId","data":"env-a"}'); document.title = "in" };
			s.onclose = () => { document.title = "out" };
		</script>`, strings.Replace(w.URL(), "http", "ws", 1)+"ws", w.session)
	}))
	defer evil.Close()
	b.do(chromedp.Navigate(evil.URL))
	b.until(`document.title === "out"`)
	if w.isOver() {
		t.Errorf("a foreign page answered: %+v", w.choice)
	}
}

func tryEnded(t *testing.T, _, b *browser) {
	d := newDesk(t, nil)
	w := d.open(Question{})
	b.do(chromedp.Navigate(w.URL()))
	b.says("Environments: 2")
	w.End()
	b.says("The call has ended")
	b.quiet()
	b.do(chromedp.Navigate(w.URL()))
	b.until(`document.body.innerText.includes("This page is over")`)
}

// cutting is a listener whose connections can be cut.
type cutting struct {
	net.Listener
	mu    sync.Mutex
	conns []net.Conn
}

func (l *cutting) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conns = append(l.conns, c)
	return c, err
}

func (l *cutting) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.conns {
		c.Close()
	}
	l.conns = nil
}

func tryLost(t *testing.T, _, b *browser) {
	var p *Picker
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { p.ServeHTTP(w, r) }))
	l := &cutting{Listener: srv.Listener}
	srv.Listener = l
	p = New(func() string { return srv.URL }, nil)
	srv.Start()
	t.Cleanup(func() {
		p.Close()
		srv.CloseClientConnections()
		srv.Close()
	})
	w, err := p.Open(Question{Timeout: time.Minute, List: give(rows)})
	if err != nil {
		t.Fatal(err)
	}
	b.do(chromedp.Navigate(w.URL()))
	b.says("Environments: 2")
	b.do(chromedp.Click("#list li:nth-child(2) label"))
	b.read(`new MutationObserver(() => { document.title += state.textContent }).observe(state, {childList: true})`)
	l.cut()
	b.until(`document.title.includes("connection was lost") && document.title.includes("Environments: 2")`)
	b.do(chromedp.Click("#pick"))
	if c := result(t, w); c != (Choice{Picked, "env-b"}) {
		t.Errorf("got %+v", c)
	}
}
