package broker

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

// TestThePageInRealBrowsers has a person in a real browser agree, and refuse, in both languages.
func TestThePageInRealBrowsers(t *testing.T) {
	w := newWorld(t, nil)
	client := newSite(t, func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(rw, `<!doctype html><link rel=icon href="data:,"><p id=got>code %t error %s state %s iss %s`,
			r.FormValue("code") != "", r.FormValue("error"), r.FormValue("state"), r.FormValue("iss"))
	})
	w.document = w.says(map[string]any{"redirect_uris": []string{client + "/cb"}, "client_name": "<b>编辑器</b>"})
	request := w.request("redirect_uri", client+"/cb", "state", "a&b=c+d")
	for _, c := range []struct {
		language, title, warning, page string
		refuse                         bool
	}{
		{"en-US", "Let an application act for you?", "any program here could be it", "consent-en", false},
		{"zh-CN", "允许此应用代表您操作吗？", "本机的任何程序都可能冒充它", "consent-zh", true},
	} {
		t.Run(c.language, func(t *testing.T) {
			b := testparts.NewBrowser(t, c.language)
			b.Do(chromedp.EmulateViewport(360, 740, chromedp.EmulateMobile), chromedp.Navigate(request))
			b.Until(`document.querySelector("h1")?.textContent === "` + c.title + `"`)
			for expression, want := range map[string]string{
				`document.querySelector(".notice").textContent.includes("` + c.warning + `")`:                "true",
				`document.documentElement.scrollWidth <= innerWidth`:                                         "true",
				`document.querySelector("button").scrollWidth <= document.querySelector("form").clientWidth`: "true",
				`document.querySelectorAll("strong")[0].textContent`:                                         strings.TrimPrefix(w.site.URL, "http://"),
				`document.querySelectorAll("strong")[1].textContent`:                                         strings.TrimPrefix(client, "http://"),
				`document.querySelector("dl").textContent.includes("<b>编辑器</b>")`:                            "true",
				`document.cookie`: "",
			} {
				if got := b.Read(expression); got != want {
					t.Errorf("%s is %q, want %q", expression, got, want)
				}
			}
			b.Accessible(testparts.Axe(t))
			b.Prefer("dark")
			b.Accessible(testparts.Axe(t))
			b.Screenshot(c.page)
			button, want := `button[name=issuer]`, "code true error  state a&b=c+d iss "+w.server.URL
			if c.refuse {
				button, want = `button[name=refuse]`, "code false error access_denied state a&b=c+d iss "+w.server.URL
			}
			b.Do(chromedp.Click(button))
			b.Until(`document.getElementById("got") !== null`)
			if got := b.Read(`document.getElementById("got").textContent`); got != want {
				t.Errorf("the client got %q, want %q", got, want)
			}
			b.CheckConsole()
			b.Do(chromedp.Navigate(w.request("redirect_uri", "https://evil.example/")))
			b.Until(`document.querySelector("[role=alert]") !== null`)
			b.Accessible(testparts.Axe(t))
			if said := b.Read(`document.querySelector("main").textContent`); (c.language == "zh-CN") != strings.Contains(said, "应用") {
				t.Errorf("%s", said)
			}
		})
	}
}

func TestOtherPagesCannotAnswer(t *testing.T) {
	w := newWorld(t, nil)
	request := w.request()
	var tricks string
	evil := newSite(t, func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(rw, `<!doctype html><title>evil</title><body>%s`, tricks)
	})
	b := testparts.NewBrowser(t, "en-US")
	tricks = fmt.Sprintf(`<form id=f method=post action="%s"><input name=issuer value="%s"></form><script>f.submit()</script>`, request, w.provider.URL)
	b.Do(chromedp.Navigate(evil))
	b.Until(`document.body.innerText.includes("does not come from the page of this gateway")`)
	tricks = fmt.Sprintf(`<iframe id=i src="%s" onload="document.title='loaded'"></iframe>`, request)
	b.Do(chromedp.Navigate(evil))
	b.Until(`document.title === "loaded"`)
	if b.Read(`window.length === 1 && (() => { try { return frames[0].document.body.innerText } catch { return "kept out" } })()`) != "kept out" {
		t.Error("the page can be shown in another one")
	}
	if len(w.provider.Login.Asked) > 0 {
		t.Error("the provider was asked")
	}
}
