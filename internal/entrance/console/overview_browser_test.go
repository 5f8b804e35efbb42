package console_test

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

// TestTheOverviewInARealBrowser reads the charts by pointer and by keys, and takes another range.
func TestTheOverviewInARealBrowser(t *testing.T) {
	w := newWorld(t, demoConfig)
	w.furnish()
	b := testparts.NewBrowser(t, "en-US")
	b.EmulateFocus()
	b.Begin(t)
	q := newQuick(t, w)
	b.Do(chromedp.EmulateViewport(1280, 900), chromedp.Navigate(q.URL+"/"))
	b.Until(`document.readyState === "complete" && window.htmx && document.querySelectorAll(".chart").length === 4`)
	const tip = `document.querySelector("#tip")`
	point := func(x string) {
		b.Read(`(() => { const plot = document.querySelector('[data-chart="calls"]'), box = plot.querySelector(".bars").getBoundingClientRect();
			plot.dispatchEvent(new PointerEvent("pointermove", {bubbles: true, clientX: box.left + box.width * ` + x + `, clientY: box.top + 9})); return ""; })()`)
	}
	point("0.5")
	b.Until(`!` + tip + `.hidden && ` + tip + `.querySelector("dt").textContent === "Calls" && Number(` + tip + `.querySelector("dd").textContent) > 0`)
	b.Read(`document.querySelector("#live").seen = true, ""`)
	b.Until(`!document.querySelector("#live").seen`) // it was exchanged
	point("0.25")
	b.Until(`!` + tip + `.hidden`)

	b.Read(`document.querySelector('[data-chart="latency"]').focus({focusVisible: true}), ""`)
	b.Do(chromedp.KeyEvent(kb.End), chromedp.KeyEvent(kb.ArrowLeft))
	b.Until(`!` + tip + `.hidden && ` + tip + `.textContent.includes("95th percentile")`)
	b.Do(chromedp.KeyEvent(kb.Escape))
	b.Until(tip + `.hidden`)

	b.Read(`document.activeElement.blur(), document.querySelector("#numbers").open = true, document.querySelector("#live").seen = true, ""`)
	b.Until(`!document.querySelector("#live").seen && document.querySelector("#numbers").open`)
	b.Do(chromedp.Click(`a[href="/?range=24h"]`))
	b.Until(`location.search === "?range=24h" && document.querySelectorAll("#numbers tbody tr").length === 72`)
	b.Do(chromedp.Click(`a[href="/?by=outcome&range=24h"]`))
	b.Until(`document.querySelector('[data-chart="calls"]') && document.querySelector(".legend").textContent.includes("error")`)
	b.Do(chromedp.Click(`a[href="/?by=outcome&range=24h&sort=errors#top"]`))
	b.Until(`document.querySelector("th[aria-sort]")?.textContent === "Errors"`)
	b.Do(chromedp.Click(`#top + .scroll tbody a`))
	b.Until(`location.pathname === "/calls" && location.search.startsWith("?tool=")`)
	b.CheckConsole()
}
