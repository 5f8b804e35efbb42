package picker

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

// browser is one that is at a page to pick from.
type browser struct{ *testparts.Browser }

func (b browser) says(text string) {
	b.Until(`document.getElementById("state").textContent.includes("` + text + `")`)
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
	zh, en := browser{testparts.NewBrowser(t, "zh-CN")}, browser{testparts.NewBrowser(t, "en-US")}
	for _, c := range []struct {
		name string
		try  func(t *testing.T, zh, en browser)
	}{
		{"a person picks on a phone", tryPhone},
		{"a person picks by keyboard alone", tryKeys},
		{"two browsers at once do not mix, and share one page", tryTwo},
		{"a page of another site cannot answer", tryForeign},
		{"a link works until the call ends", tryEnded},
		{"a page comes back after its connection was lost", tryLost},
	} {
		t.Run(c.name, func(t *testing.T) {
			zh.Begin(t)
			en.Begin(t)
			c.try(t, zh, en)
		})
	}
}

func tryPhone(t *testing.T, b, _ browser) {
	d := newDesk(t, nil)
	w := d.open(Question{Message: "上线用哪个环境？<script>alert(1)</script>", List: give(many(40))})
	b.Do(chromedp.EmulateViewport(360, 740, chromedp.EmulateMobile), chromedp.Navigate(w.URL()))
	b.Until(`document.querySelectorAll("#list li").length === 40`)
	b.says("共 40 个环境")
	b.Prefer("dark")
	for expression, want := range map[string]string{
		`document.querySelector("h1").textContent`:           "选择环境",
		`document.querySelector("blockquote").textContent`:   "上线用哪个环境？<script>alert(1)</script>",
		`document.querySelector("#list .alias").textContent`: "<img src=x onerror=alert(1)>0",
		`document.documentElement.scrollWidth <= innerWidth`: "true",
		`getComputedStyle(document.body).backgroundColor`:    "rgb(20, 23, 22)",
		`document.getElementById("pick").disabled`:           "true",
	} {
		if got := b.Read(expression); got != want {
			t.Errorf("%s is %q, want %q", expression, got, want)
		}
	}
	b.Accessible(testparts.Axe(t))
	b.Screenshot("pick-dark-360")
	b.Do(chromedp.SendKeys("#filter", "env-17"))
	b.Until(`document.querySelectorAll("#list li").length === 1`)
	b.Do(chromedp.Click("summary"))
	b.Until(`/Databases[^]*tnt-17/.test(document.querySelector("#list pre").textContent)`)
	b.Do(chromedp.Click("#list label"), chromedp.Click("#pick"))
	b.says("已选择 env-17")
	if b.Read(`document.querySelector(".find").offsetHeight + document.querySelector(".actions").offsetHeight`) != "0" {
		t.Error("it is over, and the page still has something to do")
	}
	if c := result(t, w); c != (Choice{Picked, "env-17"}) {
		t.Errorf("got %+v", c)
	}
	b.CheckConsole()
}

func tryKeys(t *testing.T, _, b browser) {
	d := newDesk(t, nil)
	w := d.open(Question{List: give(many(3))})
	b.EmulateFocus()
	b.Do(chromedp.Navigate(w.URL()))
	b.says("Environments: 3")
	b.Do(chromedp.Focus("#refresh"), chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(" "), chromedp.KeyEvent(kb.ArrowDown))
	b.Until(`document.activeElement.value === "env-01" && document.activeElement.checked`)
	b.Read(`document.getElementById("list").firstElementChild.id = "old"`)
	b.Read(`document.getElementById("refresh").click()`)
	b.Until(`!document.getElementById("old") && document.activeElement.value === "env-01"`)
	if b.Read(`getComputedStyle(document.activeElement).outlineStyle`) == "none" {
		t.Error("the focus is not seen")
	}
	b.Do(chromedp.KeyEvent(kb.Enter))
	b.says("Picked env-01")
	if c := result(t, w); c != (Choice{Picked, "env-01"}) {
		t.Errorf("got %+v", c)
	}
	b.CheckConsole()
}

func tryTwo(t *testing.T, one, two browser) {
	d := newDesk(t, nil)
	first, second := d.open(Question{List: give(many(3))}), d.open(Question{List: give(many(5))})
	one.Do(chromedp.Navigate(first.URL()))
	two.Do(chromedp.Navigate(second.URL()))
	one.says("共 3 个环境")
	two.says("Environments: 5")
	two.Accessible(testparts.Axe(t))
	two.Screenshot("pick-light-wide")
	two.Do(chromedp.Click("#cancel"))
	two.says("Canceled")
	one.Do(chromedp.Click("#refresh"))
	one.says("共 3 个环境")
	if c := result(t, second); c.Outcome != Canceled || first.isOver() {
		t.Errorf("got %+v", c)
	}
	two.Do(chromedp.Navigate(first.URL())) // the same page in both
	two.says("Environments: 3")
	one.Do(chromedp.Click("#switch"))
	one.says("切换账号")
	two.says("another account")
	if c := result(t, first); c.Outcome != Switched {
		t.Errorf("got %+v", c)
	}
	one.CheckConsole()
	two.CheckConsole()
}

func tryForeign(t *testing.T, _, b browser) {
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
	b.Do(chromedp.Navigate(evil.URL))
	b.Until(`document.title === "out"`)
	if w.isOver() {
		t.Errorf("a foreign page answered: %+v", w.choice)
	}
}

func tryEnded(t *testing.T, _, b browser) {
	d := newDesk(t, nil)
	w := d.open(Question{})
	b.Do(chromedp.Navigate(w.URL()))
	b.says("Environments: 2")
	w.End()
	b.says("The call has ended")
	b.CheckConsole()
	b.Do(chromedp.Navigate(w.URL()))
	b.Until(`document.body.innerText.includes("This page is over")`)
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

func tryLost(t *testing.T, _, b browser) {
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
	b.Do(chromedp.Navigate(w.URL()))
	b.says("Environments: 2")
	b.Do(chromedp.Click("#list li:nth-child(2) label"))
	b.Read(`new MutationObserver(() => { document.title += state.textContent }).observe(state, {childList: true})`)
	l.cut()
	b.Until(`document.title.includes("connection was lost") && document.title.includes("Environments: 2")`)
	b.Do(chromedp.Click("#pick"))
	if c := result(t, w); c != (Choice{Picked, "env-b"}) {
		t.Errorf("got %+v", c)
	}
}
