package console_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/toolfit/toolfit/internal/agent/script"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

// tricky is text that tries to be more than text.
const tricky = `"'><script>document.title="pwned"</script><img src=x onerror='document.title="pwned"'></p></article>` + "\u202eevil\u2066\u200b"

// talkingWorld is a gateway whose agents have a model that says what the script does.
func talkingWorld(t *testing.T, say func(*script.Request) script.Answer) *world {
	t.Helper()
	model := httptest.NewServer(script.New(say))
	t.Cleanup(model.Close)
	return newWorld(t, strings.Replace(demoConfig, "http://127.0.0.1:1", model.URL, 1))
}

// shopkeeper asks the shop, calls something that is not there, and answers.
func shopkeeper(r *script.Request) script.Answer {
	if r.Last().Role == "tool" {
		return script.Answer{Text: "Two orders are paid.\n\nAnything else?"}
	}
	return script.Answer{Text: "Let me see.", Calls: []script.Call{
		{ID: "a", Name: "shop__list_orders", Arguments: `{"status":"PAID","limit":"2"}`}, {ID: "b", Name: "shop__refund_all", Arguments: `{}`},
	}}
}

// shows is the condition that the page says something.
func shows(text string) string { return `document.body.innerText.includes(` + "`" + text + "`)" }

// TestWhatAPersonSaysToAnAgent takes one browser through everything that a chat can be.
func TestWhatAPersonSaysToAnAgent(t *testing.T) {
	b := testparts.NewBrowser(t, "en-US")
	for _, c := range []struct {
		name string
		try  func(t *testing.T, b *testparts.Browser)
	}{
		{"sees calls as they are made, and goes on after a reload", tryTalk},
		{"stops an answer, and the model hears of it", tryStop},
		{"leaves the page, and the answer stops", tryLeave},
		{"sees what went wrong", tryBrokenModel},
		{"sees text of strangers as text", tryTrickyAgent},
	} {
		t.Run(c.name, func(t *testing.T) {
			b.Begin(t)
			b.Prefer("light")
			b.Do(chromedp.EmulateViewport(1280, 800))
			c.try(t, b)
		})
	}
}

func tryTalk(t *testing.T, b *testparts.Browser) {
	w := talkingWorld(t, shopkeeper)
	b.Do(chromedp.Navigate(w.URL + "/chat"))
	b.Until(shows("No messages yet"))
	b.Do(chromedp.SendKeys("#text", "How are the orders?\r"))
	b.Until(shows("Anything else?") + ` && document.querySelectorAll(".call").length === 2 && !document.querySelector("#stop:not([hidden])")`)
	b.Until(`location.pathname.startsWith("/chat/ses_") && document.querySelectorAll(".past li").length === 1`)
	for expression, want := range map[string]string{
		`[...document.querySelectorAll(".call .badge")].map(e => e.textContent).join()`: "success,failed",
		`document.querySelector(".turn.person").innerText`:                              "How are the orders?",
		`document.querySelectorAll(".turn").length`:                                     "2",
		`document.querySelectorAll("#chat-actions a").length`:                           `2`,
		`document.activeElement.id`:                                                     "text",
		`document.querySelector(".call .beside").checkVisibility()`:                     "false",
		`document.querySelector(".past a").getAttribute("href") === location.pathname`:  "true",
	} {
		if got := b.Read(expression); got != want {
			t.Errorf("%s is %q, want %q", expression, got, want)
		}
	}
	b.Do(chromedp.Click(".call summary"))
	b.Until(`/"limit": "2"/.test(document.querySelector(".call .code").textContent)`)
	b.Screenshot("chat-talk")
	w.until("the call is recorded", func() bool {
		status, _ := w.person().ask("GET", b.Read(`document.querySelector(".call h3 a").getAttribute("href")`), nil)
		return status == 200
	})
	b.Do(chromedp.Click(".call h3 a"))
	b.Until(`location.pathname.startsWith("/calls/")`)
	b.Do(chromedp.NavigateBack())
	b.Until(shows("Anything else?"))
	b.Do(chromedp.SendKeys("#text", "And now?"), chromedp.Click("#send"))
	b.Until(`document.querySelectorAll(".turn").length === 4 && document.querySelectorAll(".past li").length === 1 && document.querySelector("#stop").hidden`)
	b.CheckConsole()
}

// slow is a model that says something and then nothing more until it is left.
func slow(left *atomic.Int32) func(*script.Request) script.Answer {
	return func(r *script.Request) script.Answer {
		if strings.Contains(r.Last().Text(), "quickly") {
			return script.Answer{Text: "At once."}
		}
		pieces := 0
		return script.Answer{Text: "This takes a while, as you can see.", Wait: func(done <-chan struct{}) bool {
			if pieces++; pieces < 3 {
				return true
			}
			<-done
			left.Add(1)
			return false
		}}
	}
}

func tryStop(t *testing.T, b *testparts.Browser) {
	var left atomic.Int32
	w := talkingWorld(t, slow(&left))
	b.Do(chromedp.Navigate(w.URL+"/chat"), chromedp.SendKeys("#text", "Take your time\r"))
	b.Until(shows("This takes") + ` && document.querySelector(".working") && document.querySelector("#send").hidden`)
	b.Do(chromedp.Click("#stop"))
	b.Until(shows("Stopped. The conversation so far is saved.") + ` && !document.querySelector("#send").hidden`)
	w.until("the model is left", func() bool { return left.Load() == 1 })
	b.Do(chromedp.Navigate(w.URL + "/environments/sessions"))
	w.until("the end is stored", func() bool {
		_, page := w.person().ask("GET", b.Read(`document.querySelector("th.title a").getAttribute("href")`), nil)
		return strings.Contains(page, "Incomplete") && strings.Contains(page, "This takes")
	})
	b.Do(chromedp.Click("th.title a"), chromedp.Click(".actions a"))
	b.Until(`location.pathname.startsWith("/chat/") && document.readyState === "complete"`) // its script is there
	b.Do(chromedp.SendKeys("#text", "Now quickly\r"))
	b.Until(shows("At once."))
	b.CheckConsole()
}

func tryLeave(t *testing.T, b *testparts.Browser) {
	var left atomic.Int32
	w := talkingWorld(t, slow(&left))
	b.Do(chromedp.Navigate(w.URL+"/chat"), chromedp.SendKeys("#text", "Take your time\r"))
	b.Until(shows("This takes"))
	b.Do(chromedp.Navigate(w.URL + "/keys"))
	w.until("the model is left", func() bool { return left.Load() == 1 })
	b.CheckConsole()
}

func tryBrokenModel(t *testing.T, b *testparts.Browser) {
	w := talkingWorld(t, func(*script.Request) script.Answer {
		return script.Answer{Status: 400, Message: "no such <b>model</b>"}
	})
	b.Do(chromedp.Navigate(w.URL+"/chat"), chromedp.SendKeys("#text", "Hello\r"))
	b.Until(`document.querySelector("#ending .bad")?.innerText.includes("no such <b>model</b>")`)
	if got := b.Read(`document.querySelectorAll(".turn.person").length`); got != "1" {
		t.Errorf("the question is there %s times", got)
	}
	b.CheckConsole()
}

func tryTrickyAgent(t *testing.T, b *testparts.Browser) {
	w := talkingWorld(t, func(r *script.Request) script.Answer {
		if r.Last().Role == "tool" {
			return script.Answer{Text: tricky + " the end", Piece: 5}
		}
		return script.Answer{Text: tricky,
			Calls: []script.Call{{ID: tricky, Name: tricky, Arguments: `{"a":"` + strings.ReplaceAll(tricky, `"`, `\"`) + `"}`}}}
	})
	b.Do(chromedp.Navigate(w.URL + "/chat"))
	b.Read(`document.querySelector("#text").value = ` + "`" + tricky + "`")
	b.Do(chromedp.Click("#send"))
	b.Until(`document.querySelectorAll(".turn").length === 2 && ` + shows("the end") + ` && document.querySelector("#stop").hidden`)
	for _, path := range []string{"", "/environments/sessions", "/environments/logs"} {
		if path != "" {
			b.Do(chromedp.Navigate(w.URL + path))
		}
		if b.Read(`document.title.includes("pwned") || document.querySelectorAll("main img, main script:not([src])").length > 0 || /[\u202e\u2066\u200b]/.test(document.body.innerText)`) != "false" {
			t.Errorf("%s: what an agent said is more than text: %s", path, b.Read("document.body.innerHTML"))
		}
	}
	b.CheckConsole()
}

func TestAChatNeedsNoScripts(t *testing.T) {
	w := talkingWorld(t, shopkeeper)
	p := w.person()
	status, page := p.ask("POST", "/chat", url.Values{"agent": {"helper"}, "text": {"How are the orders?"}})
	if status != 200 || !strings.Contains(page, "Anything else?") || strings.Count(page, `mono tool">shop__`) != 2 {
		t.Errorf("HTTP %d: %.1000s", status, page)
	}
	for _, form := range []url.Values{{"agent": {"helper"}, "text": {"  "}}, {"agent": {"nobody"}, "text": {"x"}}, {"agent": {"helper"}, "session": {"ses_none"}, "text": {"x"}}} {
		if status, page := p.ask("POST", "/chat", form); status != 400 && status != 404 {
			t.Errorf("%v: HTTP %d: %.300s", form, status, page)
		}
	}
	if status, page := newWorld(t, "store: t.db\n").person().ask("GET", "/chat", nil); status != 200 ||
		!strings.Contains(page, "No agents yet") || !strings.Contains(page, "agents:") {
		t.Errorf("without agents the page does not say what to do: HTTP %d %.500s", status, page)
	}
}

func TestChatsAreTheirOwners(t *testing.T) {
	w := talkingWorld(t, shopkeeper)
	people := map[string]*person{}
	for name, key := range map[string]string{
		"ann": w.key("ann", "default", access.Caller), "bob": w.key("bob", "default", access.Caller), "eye": w.key("eye", "default",
			access.Viewer), "root": w.key("root", "*", access.Admin),
	} {
		people[name] = w.person()
		people[name].signIn(key)
	}
	var chat string
	people["ann"].client.CheckRedirect = func(r *http.Request, _ []*http.Request) error { chat = r.URL.Path; return nil }
	people["ann"].ask("POST", "/chat", url.Values{"agent": {"helper"}, "text": {"How are the orders?"}})
	for name, want := range map[string][3]int{"ann": {200, 200, 200}, "bob": {404, 404, 404}, "root": {200, 200, 404}, "eye": {403, 200, 403}} {
		seen, _ := people[name].ask("GET", chat, nil)
		read, _ := people[name].ask("GET", "/environments/sessions/"+strings.TrimPrefix(chat, "/chat/"), nil)
		said, _ := people[name].ask("POST", "/chat",
			url.Values{"agent": {"helper"}, "session": {strings.TrimPrefix(chat, "/chat/")}, "text": {"And?"}})
		if got := [3]int{seen, read, said}; got != want {
			t.Errorf("%s sees, reads and goes on with ann's chat: HTTP %v, want %v", name, got, want)
		}
	}
	bob := people["bob"]
	bob.header = http.Header{"Content-Type": {"application/json"}, "Origin": {"http://other.example"}}
	if status, _ := bob.ask("POST", "/chat/completions", url.Values{}); status != 403 {
		t.Errorf("another site's page talks with an agent: HTTP %d", status)
	}
}
