package console_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/store"
	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

// browsing is a gateway with a server that plays a browser. A page is opened when open lets it.
// The configuration ends with its profiles; more goes on from there.
func browsing(t *testing.T, open <-chan struct{}, more string) *world {
	t.Helper()
	s := mcp.NewServer(&mcp.Implementation{Name: "Playwright", Version: "1"}, nil)
	for _, name := range []string{"browser_navigate", "browser_click", "browser_snapshot", "browser_close"} {
		s.AddTool(&mcp.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object","properties":{"url":{"type":"string"},"ref":{"type":"string"}}}`)}, func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			if name == "browser_navigate" {
				select {
				case <-open:
				case <-ctx.Done():
				}
			}
			text := "### Page\n- Page URL: http://127.0.0.1:1/\n- Page Title: Shop\n### Snapshot\n```yaml\n- button \"Save\" [ref=e3]\n- button \"Save\" [ref=e4]\n- paragraph [ref=e5]: Orders\n```\n"
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil
		})
	}
	srv := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil))
	t.Cleanup(func() {
		srv.CloseClientConnections()
		srv.Close()
		for left := range s.Sessions() { // whose goodbye was cut off
			left.Close()
		}
	})
	return newWorld(t, fmt.Sprintf("store: t.db\nmcpServers:\n  web: {url: %q}\nprofiles:\n  default: {validation: light}\n", srv.URL)+more)
}

func TestWhatAPersonDoesWithTestRuns(t *testing.T) {
	b := testparts.NewBrowser(t, "en-US")
	for _, c := range []struct {
		name string
		try  func(t *testing.T, b *testparts.Browser)
	}{
		{"starts a run of pasted steps, sees it end, and runs it again", tryRun},
		{"is told why a run cannot start, and keeps the steps", tryRefusedRun},
		{"reads a report with its picture", tryReport},
	} {
		t.Run(c.name, func(t *testing.T) {
			b.Begin(t)
			b.Do(chromedp.EmulateViewport(1280, 800))
			c.try(t, b)
		})
	}
}

func tryRun(t *testing.T, b *testparts.Browser) {
	open := make(chan struct{}, 2)
	w := browsing(t, open, "")
	b.Do(chromedp.Navigate(w.URL+"/runs"), chromedp.SendKeys("[name=steps]", "open http://127.0.0.1:1/\nexpect \"Orders\"\nclick Save\n"),
		chromedp.Click(".sheet button"))
	b.Until(shows("Run started") + " && " + shows("running") + ` && document.querySelector("progress")`)
	if b.Read(`document.querySelector(".actions form").action.endsWith("/cancel")`) != "true" {
		t.Error("a run that is under way cannot be canceled")
	}
	first := b.Read("location.pathname")
	open <- struct{}{}
	b.Until(`document.querySelectorAll(".step").length === 3 && !document.querySelector("progress")`)
	b.Screenshot("run-ended")
	for expression, want := range map[string]string{
		`[...document.querySelectorAll(".step .badge")].map(e => e.textContent).join()`: "passed,passed,failed",
		`document.querySelectorAll("details.case[open] .step details[open]").length`:    "1",
		`document.querySelectorAll(".step details[open] tbody tr td.n").length > 1`:     "true", // candidates
	} {
		if got := b.Read(expression); got != want {
			t.Errorf("%s is %q, want %q", expression, got, want)
		}
	}
	b.Do(chromedp.Click(".actions button"))
	b.Until(shows("Run started") + ` && location.pathname !== "` + first + `"`)
	open <- struct{}{}
	b.Until(`document.querySelectorAll(".step").length === 3`)
	b.Do(chromedp.Navigate(w.URL + "/runs"))
	b.Until(`document.querySelectorAll("tbody tr").length === 2`)
	b.CheckConsole()
}

func tryRefusedRun(t *testing.T, b *testparts.Browser) {
	w := newWorld(t, demoConfig)
	b.Do(chromedp.Navigate(w.URL+"/runs"), chromedp.SendKeys("[name=steps]", "open http://127.0.0.1:1/\nclick <b>"),
		chromedp.Click(".sheet button"))
	b.Until(shows("has no server with a browser") + ` && document.querySelector("[name=steps]").value.endsWith("click <b>")`)
	b.Do(chromedp.SetValue("[name=steps]", "dance: [wildly"), chromedp.Click(".sheet button"))
	b.Until(`document.querySelector(".sheet .notice.bad")?.innerText.includes("bad_arguments") && document.querySelector("[name=steps]").value === "dance: [wildly"`)
	b.CheckConsole()
}

func tryReport(t *testing.T, b *testparts.Browser) {
	w := newWorld(t, demoConfig)
	id := w.failedRun("run_1", tricky)
	b.Do(chromedp.Navigate(w.URL + "/runs/" + id))
	b.Until(`document.querySelector(".picture img")?.naturalWidth === 640`)
	if b.Read(`document.title.includes("pwned") || document.querySelectorAll("main img").length !== 1 || /[\u202e\u2066\u200b]/.test(document.body.innerText)`) != "false" {
		t.Error("what a tested page said is more than text")
	}
	b.Do(chromedp.Click(".bad-cases a"))
	b.Until(`document.querySelector(".case:target").open`)
	b.Do(chromedp.Navigate(w.URL + "/runs/" + id + "/report?format=html"))
	b.Until(shows("1 of 3 passed"))
	b.CheckConsole()
}

func TestRunsAreForThoseWhoMay(t *testing.T) {
	w := newWorld(t, demoConfig)
	w.failedRun("run_1", "secret plan") // of "local", who is nobody any more as soon as there are keys
	ann, eye := w.person(), w.person()
	ann.signIn(w.key("ann", "default", access.Caller))
	eye.signIn(w.key("eye", "default", access.Viewer))
	w.key("root", "*", access.Admin)
	for path, viewer := range map[string]int{"/runs/run_1": 200, "/runs/run_1/now": 200, "/runs/run_1/report?format=junit": 200, "/runs/run_1/pictures/4": 200, "/runs/run_1/pictures/2": 404, "/runs/run_1/report?format=pdf": 400} {
		if status, _ := eye.ask("GET", path, nil); status != viewer {
			t.Errorf("a viewer reads %s: HTTP %d, want %d", path, status, viewer)
		}
		if status, page := ann.ask("GET", path, nil); status != 404 && status != 400 || strings.Contains(page, "secret plan") {
			t.Errorf("a caller reads %s of another: HTTP %d", path, status)
		}
	}
	if _, page := ann.ask("GET", "/runs", nil); strings.Contains(page, "secret plan") {
		t.Error("a caller lists runs of others")
	}
	if status, _ := eye.ask("POST", "/runs", url.Values{"steps": {"open /"}}); status != 403 {
		t.Errorf("a viewer starts a run: HTTP %d", status)
	}
	if status, _ := ann.ask("POST", "/runs/run_1/again", url.Values{}); status != 404 {
		t.Errorf("a caller runs another's tests again: HTTP %d", status)
	}
}

func TestARunWithManyStepsHasPagesAndALinkToEachFailure(t *testing.T) {
	w := newWorld(t, demoConfig)
	step := `{"text":"click Order","action":"click","status":"passed","duration_ms":1,"calls":[{"tool":"browser_click","before":{"ref":"e1"},"after":{"ref":"e1"},"duration_ms":1}]}`
	steps := strings.Repeat(step+",", 29) + step
	cases := strings.Repeat(`{"name":"fine","status":"passed","attempts":1,"duration_ms":1,"steps":[`+steps+`]},`, 100)
	w.saveRun(store.Run{ID: "run_big", Name: "big", Outcome: "failed", Duration: time.Second,
		Report: []byte(`{"results":[{"name":"big","cases":[` + cases +
			`{"name":"the last","status":"failed","attempts":1,"duration_ms":1,"error":{"message":"no such order"},"steps":[` + steps + `]}]}]}`)}, `"principal":"local","files":["a"],"cases":101,"totals":{"tests":101,"passed":100,"failed":1}`)
	_, page := w.person().ask("GET", "/runs/run_big", nil)
	if n := strings.Count(page, `<li class="step">`); n != 300 || !strings.Contains(page, `href="?page=11#case-1-101"`) ||
		!strings.Contains(page, "no such order") || !strings.Contains(page, "1 / 11") {
		t.Errorf("%d steps are shown", n)
	}
	_, page = w.person().ask("GET", "/runs/run_big?page=11", nil)
	_, last, found := strings.Cut(page, "<b>the last</b>")
	if strings.Count(last, `<li class="step">`) != 30 || !found || strings.Contains(page, "<b>fine</b>") {
		t.Error("the case that failed is not where its link leads")
	}
}

func TestAFailedRunIsReadInOneLanguage(t *testing.T) {
	w := newWorld(t, demoConfig)
	id := w.failedRun("run_failed", "Sign in and order")
	r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, w.URL+"/runs/"+id, nil)
	r.Header.Set("Accept-Language", "zh-CN")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	page, _ := io.ReadAll(resp.Body)
	for _, chinese := range []string{"对应 2 个元素", "除虚词外名称相同", "名称和类型都相符"} {
		if !strings.Contains(string(page), chinese) {
			t.Errorf("%s is not on the page", chinese)
		}
	}
	for _, english := range []string{"means 2", "is called so"} {
		if at := strings.Index(string(page), english); at >= 0 {
			t.Errorf("not in Chinese: %s", page[max(0, at-80):at+80])
		}
	}
}
