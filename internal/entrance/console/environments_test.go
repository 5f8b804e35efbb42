package console_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/store"
	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

func TestWhatAPersonDoesWithSessionsAndLogs(t *testing.T) {
	b := testparts.NewBrowser(t, "en-US")
	for _, c := range []struct {
		name string
		try  func(t *testing.T, b *testparts.Browser, w *world)
	}{
		{"makes, renames and deletes a session", trySession},
		{"chooses log entries by all filters", tryLogs},
		{"goes from an agent to a chat with it", tryAgents},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, demoConfig)
			b.Begin(t)
			b.Do(chromedp.EmulateViewport(1280, 800))
			c.try(t, b, w)
		})
	}
}

func trySession(t *testing.T, b *testparts.Browser, w *world) {
	b.Do(chromedp.Navigate(w.URL+"/environments/sessions"), chromedp.SendKeys(".sheet [name=title]", "<b>Books</b> 书"),
		chromedp.SendKeys(".sheet [name=metadata]", `{"topic":"books","n":9007199254740993}`), chromedp.Click(".sheet button"))
	b.Until(shows("Session created") + " && " + shows("<b>Books</b> 书") + " && " + shows("9007199254740993"))
	b.Do(chromedp.SetValue("[name=title]", "Ordered"), chromedp.Click("form.row button"))
	b.Until(shows("Session renamed") + ` && document.querySelector("h1").innerText.includes("Ordered")`)
	b.Do(chromedp.Navigate(w.URL + "/environments/sessions?metadata=topic%3Dbooks"))
	b.Until(`document.querySelectorAll("th.title").length === 1`)
	b.Do(chromedp.Navigate(w.URL + "/environments/sessions?metadata=topic%3Dfilms"))
	b.Until(shows("No session matches"))
	b.Do(chromedp.Navigate(w.URL + "/environments/sessions"))
	b.Read(`window.confirm = (question) => { document.title = question; return false }`)
	b.Do(chromedp.Click("td .danger"))
	b.Until(`document.title.includes("Delete session Ordered?")`)
	b.Read(`window.confirm = () => true`)
	b.Do(chromedp.Click("td .danger"))
	b.Until(shows("Session deleted") + " && " + shows("No sessions yet"))
	b.CheckConsole()
}

func tryLogs(t *testing.T, b *testparts.Browser, w *world) {
	w.furnish()
	b.Do(chromedp.Navigate(w.URL+"/environments/logs"), chromedp.SetValue("[name=level]", "error"), chromedp.SetValue("[name=limit]", "20"),
		chromedp.Click("form.filter button"))
	b.Until(`location.search.includes("level=error") && document.querySelectorAll("tbody tr").length === 11`)
	b.Do(chromedp.SetValue("[name=since]", "2099-01-01T00:00"), chromedp.Click("form.filter button"))
	b.Until(shows("No call matches"))
	b.Do(chromedp.Click("form.filter a"))
	b.Until(`document.querySelectorAll("tbody tr").length === 100`)
	b.Do(chromedp.Click("tbody tr .message a"))
	b.Until(`location.pathname.startsWith("/calls/")`)
	b.CheckConsole()
}

func tryAgents(t *testing.T, b *testparts.Browser, w *world) {
	b.Do(chromedp.Navigate(w.URL + "/environments"))
	b.Until(shows("订单助手") + " && " + shows("/mcp/orders/env"))
	b.Do(chromedp.Click(`a[href="/chat?agent=clerk"]`))
	b.Until(`document.querySelector("#agent").value === "clerk"`)
	b.CheckConsole()
}

func TestSessionsAndLogsAreForThoseWhoMay(t *testing.T) {
	w := newWorld(t, demoConfig)
	ann, eye, root := w.person(), w.person(), w.person()
	ann.signIn(w.key("ann", "orders", access.Caller))
	eye.signIn(w.key("eye", "default", access.Viewer))
	root.signIn(w.key("root", "*", access.Admin))
	if _, err := w.app.Store.CreateSession(t.Context(), store.Session{ID: "ses_root", Owner: "somebody", Title: "secret plan"}); err != nil {
		t.Fatal(err)
	}
	const all, one = "/environments/sessions", "/environments/sessions/ses_root"
	for _, c := range []struct {
		name   string
		who    *person
		method string
		path   string
		status int
		sees   bool
	}{
		{"a caller lists its own", ann, "GET", all, 200, false},
		{"a caller reads its own", ann, "GET", one, 404, false},
		{"a caller renames its own", ann, "POST", one + "/rename", 404, false},
		{"a viewer lists all", eye, "GET", all, 200, true},
		{"a viewer reads all", eye, "GET", one, 200, true},
		{"a viewer renames none", eye, "POST", one + "/rename", 404, false},
		{"a viewer makes none", eye, "POST", all, 403, false},
		{"an administrator renames all", root, "POST", one + "/rename", 200, true},
	} {
		var form url.Values
		if c.method == "POST" {
			form = url.Values{"title": {"secret plan B"}}
		}
		if status, page := c.who.ask(c.method, c.path, form); status != c.status || strings.Contains(page, "secret plan") != c.sees {
			t.Errorf("%s: HTTP %d, want %d, and sees it: %t", c.name, status, c.status, c.sees)
		}
	}
	ann.ask("POST", one+"/delete", url.Values{}) // of another's nothing is said
	if _, page := root.ask("GET", all, nil); !strings.Contains(page, "secret plan B") {
		t.Error("a caller deleted another's session")
	}
	if _, page := ann.ask("GET", "/environments", nil); strings.Contains(page, "helper") || !strings.Contains(page, "clerk") {
		t.Error("a caller sees agents of profiles that it may not use")
	}
	if _, page := ann.ask("GET", "/environments/logs", nil); strings.Contains(page, "tbody tr") {
		t.Error("a caller sees other calls")
	}
}

func TestWrongFiltersAreTold(t *testing.T) {
	w := newWorld(t, demoConfig)
	p := w.person()
	for _, path := range []string{
		"/environments/logs?level=loud", "/environments/logs?limit=1001", "/environments/logs?limit=x", "/environments/logs?since=yesterday", "/environments/logs?since=2026-01-02&until=2026-01-01",
		"/environments/sessions?metadata=books", "/environments/sessions?until=x", "/environments/sessions?cursor=nonsense",
	} {
		if status, page := p.ask("GET", path, nil); status != 400 || !strings.Contains(page, "This cannot be shown") {
			t.Errorf("%s: HTTP %d %.200s", path, status, page)
		}
	}
	if status, page := p.ask("POST", "/environments/sessions", url.Values{"title": {"x"}, "metadata": {"{"}}); status != 200 ||
		!strings.Contains(page, "metadata must be a JSON object") {
		t.Errorf("HTTP %d %.200s", status, page)
	}
}

func TestOddIdsAndTitlesOfSessionsAreText(t *testing.T) {
	w := newWorld(t, demoConfig)
	for i, id := range []string{"a/b?c#d", "百分%2F", `x"><script>`} {
		w.chat(id, tricky+fmt.Sprint(i), string(mustJSON(t, map[string]string{"role": "user", "content": tricky})), `"no message"`, `{"role":5}`,
			`{"role":"tool","tool_call_id":"none","content":"x"}`,
			string(mustJSON(t, map[string]any{"role": "assistant", "content": tricky,
				"toolfit": map[string]string{"agent": tricky,
					"stopped": tricky}, "tool_calls": []any{map[string]any{"id": "1",
					"function": map[string]string{"name": tricky, "arguments": tricky}}}})))
	}
	p := w.person()
	_, list := p.ask("GET", "/environments/sessions", nil)
	_, chat := p.ask("GET", "/chat", nil)
	seen := 0
	for _, m := range addresses(list, `<th scope="row" class="title"><a href="`) {
		status, page := p.ask("GET", m, nil)
		if seen++; status != 200 {
			t.Errorf("%s: HTTP %d", m, status)
		}
		list += page
	}
	for _, m := range addresses(chat, `<li><a href="`) {
		if strings.HasPrefix(m, "/chat/") {
			status, page := p.ask("GET", m, nil)
			if seen++; status != 200 {
				t.Errorf("%s: HTTP %d", m, status)
			}
			chat += page
		}
	}
	if seen != 6 {
		t.Errorf("%d links lead to three sessions, twice", seen)
	}
	for _, bad := range []string{"<script>document", "<img", "\u202e", "\u2066", "ZgotmplZ"} {
		if strings.Contains(stripValues(list+chat), bad) {
			t.Errorf("%q is in the page", bad)
		}
	}
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
