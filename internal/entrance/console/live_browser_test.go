package console_test

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

// quick serves the gateway with live parts that are asked for ten times a second. While
// broken is set they are a fault, while deaf is no WebSocket is let through, and while gone is
// there is no answer to parts at all.
type quick struct {
	*httptest.Server
	broken, deaf, gone atomic.Bool
}

func newQuick(t *testing.T, w *world) *quick {
	q := &quick{}
	q.Server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		part := r.Header.Get("HX-Request") != ""
		switch {
		case strings.HasSuffix(r.URL.Path, "/live") && r.Header.Get("Upgrade") != "" && q.deaf.Load():
			http.NotFound(rw, r)
		case part && q.gone.Load():
			http.Error(rw, "bad gateway", http.StatusBadGateway)
		case part && q.broken.Load():
			rw.Header().Set("HX-Retarget", "#notice")
			rw.Header().Set("HX-Reswap", "innerHTML")
			rw.Write([]byte("<p>the store rests</p>"))
		case part || strings.Contains(r.Header.Get("Accept"), "text/html"):
			page := httptest.NewRecorder()
			w.Config.Handler.ServeHTTP(page, r)
			for name, values := range page.Header() {
				rw.Header()[name] = values
			}
			rw.WriteHeader(page.Code)
			rw.Write([]byte(strings.ReplaceAll(page.Body.String(), "every 5s", "every 100ms")))
		default:
			w.Config.Handler.ServeHTTP(rw, r)
		}
	}))
	t.Cleanup(func() {
		q.CloseClientConnections()
		q.Close()
	})
	return q
}

// tryLivePart looks at a live part through what happens to it.
func tryLivePart(t *testing.T, b *testparts.Browser, w *world) {
	q := newQuick(t, w)
	defer b.Begin(t) // it leaves the page, which asks again and again
	w.post("shop__list_orders", `{"limit":1}`)
	b.Do(chromedp.Navigate(q.URL + "/"))
	b.Until(`window.htmx && document.querySelector("#last + .scroll")`)
	b.Read(`document.querySelector("#last").scrollIntoView(), ""`)
	x, errX := strconv.ParseFloat(b.Read(`document.querySelector("#last + .scroll td").getBoundingClientRect().x + 60`), 64)
	y, errY := strconv.ParseFloat(b.Read(`document.querySelector("#last + .scroll td").getBoundingClientRect().y + 5`), 64)
	if errX != nil || errY != nil {
		t.Fatal(errX, errY)
	}
	b.Do(chromedp.MouseClickXY(x, y)) // by its place: the table itself is exchanged all the time
	w.post("shop__get_order", `{"id":1}`)
	b.Until(has("shop__get_order")) // a click into a table does not stop it

	q.broken.Store(true)
	b.Until(has("the store rests"))
	b.Read(`Date.now = ((now) => () => now() + 60_000)(Date.now)`) // a minute goes by
	b.Until(`!document.getElementById("stale").hidden`)
	q.broken.Store(false)
	b.Until(`document.getElementById("stale").hidden && !` + has("the store rests"))

	b.Read(`fetch("/settings", {method: "POST", body: new URLSearchParams({language: "zh"})}).then(() => "")`)
	b.Until(`document.documentElement.lang === "zh-CN" && ` + has("概览")) // another tab spoke Chinese
	b.Read(`fetch("/settings", {method: "POST", body: new URLSearchParams({language: "en"})}).then(() => "")`)
	b.Until(`document.documentElement.lang === "en-US" && ` + has("Overview"))

	q.broken.Store(true)
	b.Read(`Date.now = ((now) => () => now() + 60_000)(Date.now)`)
	b.Until(`!document.getElementById("stale").hidden`)
	b.Read(`document.querySelectorAll("[data-live]").forEach((el) => el.remove())`) // as a run that ends
	b.Until(`document.getElementById("stale").hidden`)
}

// tryMissedRows looks at calls that end before the page is connected.
func tryMissedRows(t *testing.T, b *testparts.Browser, w *world) {
	q := newQuick(t, w)
	q.deaf.Store(true)
	b.Do(chromedp.Navigate(q.URL + "/calls"))
	b.Until(has("No calls yet"))
	b.Read(`document.body.dispatchEvent(new CustomEvent("htmx:wsAfterMessage", {bubbles: true}))`) // nothing happened, says the gateway
	if b.Read(`document.querySelector(".none").checkVisibility()`) != "true" {
		t.Error("it does not say any more that there are no calls")
	}
	w.post("shop__list_orders", `{}`)
	b.Until(`document.querySelectorAll("#calls tr").length === 1 && !document.querySelector(".none")?.checkVisibility()`) // it asks
	q.deaf.Store(false)
	b.Read(`window.opened = 0, document.addEventListener("htmx:wsAfterMessage", () => window.opened++)`)
	b.Until(`window.opened > 0`) // rows that are there come again
	w.post("shop__get_order", `{}`)
	b.Until(`document.querySelectorAll("#calls tr").length === 2 && document.querySelector("#calls tr a").textContent.includes("get_order")`)
}

// tryLostAnswer asks for something and gets no answer.
func tryLostAnswer(t *testing.T, b *testparts.Browser, w *world) {
	q := newQuick(t, w)
	defer b.Begin(t) // a browser complains of HTTP 502
	b.Do(chromedp.Navigate(q.URL + "/tools/shop__list_orders"))
	b.Until(`document.readyState === "complete" && window.htmx`)
	q.gone.Store(true)
	b.Do(chromedp.Click("#try-form button.go"))
	b.Until(`document.querySelector("#tried").innerText.includes("The gateway did not answer. Try again. HTTP 502")`)
	b.Read(`void htmx.ajax("GET", "/calls/rows", "#tried")`)
	b.Until(`document.querySelector("#notice").innerText.includes("The gateway did not answer. Try again. HTTP 502")`)
	q.gone.Store(false)
	b.Do(chromedp.Click("#try-form button.go"))
	b.Until(`document.querySelector("#tried").innerText.includes("Succeeded")`)
}

func TestErrorOutputIsReadFromItsEnd(t *testing.T) {
	w := newWorld(t, demoConfig)
	id, err := w.app.AddServer(t.Context(), []byte(`{"name":"noisy","command":"seq","args":["100"]}`))
	if err != nil {
		t.Fatal(err)
	}
	w.app.Catalog.ServerReady(t.Context(), id)
	b := testparts.NewBrowser(t, "en-US")
	b.Do(chromedp.Navigate(w.URL + "/servers/noisy"))
	b.Until(`document.querySelector(".stderr > span")?.getBoundingClientRect().height > 1000`)
	if below := b.Read(`document.querySelector(".stderr > span").getBoundingClientRect().bottom > document.querySelector(".stderr").getBoundingClientRect().bottom`); below != "false" {
		t.Error("the last line is not seen")
	}
	const kept = `!document.getElementById("live").dispatchEvent(new CustomEvent("htmx:beforeRequest", { bubbles: true, cancelable: true }))`
	b.Until(`!(` + kept + `)`)
	b.Read(`document.querySelector(".stderr").scrollTop = -100`)
	b.Until(kept) // it is not exchanged while somebody reads what is above
	b.CheckConsole()
}
