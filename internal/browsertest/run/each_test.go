package run_test

import (
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/browsertest/run"
)

func TestWhetherOneOrSeveralAreMeantIsDecidedByThePage(t *testing.T) {
	const both = `- generic [ref=e1]:
  - button "Save" [ref=e2]
  - button "Close" [ref=e3]
  - button "Save and close" [ref=e4]
  - checkbox "Terms and conditions" [ref=e5]
  - checkbox "Terms" [ref=e6]
  - checkbox "Conditions" [ref=e7]
  - radio "Both email and SMS" [ref=e8]
  - radio "Email" [ref=e9]
  - button "Items for sale and rent" [ref=e10]`
	const single = `- generic [ref=e1]:
  - button "Save" [ref=e2]
  - button "Close" [ref=e3]
  - checkbox "News" [ref=e5]
  - checkbox "Offers" [ref=e6]
  - checkbox "Tips" [checked] [ref=e7]`
	const list = `- listbox "Names" [ref=e1]:
  - option "Ada" [ref=e2]
  - option "Ben" [ref=e3]
  - option "Cy" [ref=e4]`
	for _, c := range []struct{ tree, step, want string }{
		{both, "click Save and close", "click e4"},
		{both, "check Terms and conditions", "click e5"},
		{both, "choose Both email and SMS", "click e8"},
		{both, "click Items for sale and rent", "click e10"},
		{single, "click Save and close", ""},
		{single, "click both Save and Close", "click e2, click e3"},
		{single, "click the buttons Save and Close", "click e2, click e3"},
		{single, "check News and Offers", "click e5, click e6"},
		{single, "check News, Offers and Tips", "click e5, click e6"},
		{single, "check all of: News, Offers", "click e5, click e6"},
		{single, "check News and Terms", ""},
		{single, "check News, Terms and Offers", ""},
		{single, "check News or Offers", ""},
		{single, "勾选 News 和 Offers", "click e5, click e6"},
		{single, "把 News 和 Offers 都勾上", "click e5, click e6"},
		{list, "select Ada and Cy", "select e1 Ada+Cy"},
		{list, "select the names Ada, Ben and Cy", "select e1 Ada+Ben+Cy"},
		{list, "select Ada and Zoe", ""},
	} {
		p := widgetPage{tree: c.tree}
		did, code := p.do(c.step)
		if strings.Join(did, ", ") != c.want || (code == "") != (c.want != "") {
			t.Errorf("%s: %q %s, want %q", c.step, did, code, c.want)
		}
	}
}

func TestATabOfThePageIsMeantOnlyWhereTheBrowserHasNone(t *testing.T) {
	const tree = "- tablist [ref=e1]:\n  - tab \"First\" [ref=e2]\n  - tab \"Second\" [ref=e3]"
	const first, second = "- 0: (current) [A](http://a/)\n", "- 1: [B](http://b/)\n"
	for tabs, want := range map[string]string{first: "browser_click", first + second: "browser_tabs"} {
		b := &fakeBrowser{tree: page(tree), on: map[string]func(map[string]any) (string, bool){
			"browser_tabs": func(args map[string]any) (string, bool) {
				if args["action"] == "select" && !strings.Contains(tabs, "- 1:") {
					return "Error: Tab 1 not found", true
				}
				return "### Open tabs\n" + tabs, false
			},
		}}
		c, _ := one(b, run.Options{}, "steps: [switch to tab 2]")
		calls := b.acted()
		last := calls[len(calls)-1]
		if c.Status != run.Passed || !strings.HasPrefix(last, want) || (want == "browser_click") != strings.Contains(last, `"e3"`) {
			t.Errorf("%s %q", c.Status, calls)
		}
	}
}

func TestAUnitIsLeftOutOfANumber(t *testing.T) {
	const tree = "- generic [ref=e1]:\n  - slider \"Volume\" [ref=e2]\n  - spinbutton \"Size\" [ref=e3]\n  - textbox \"Note\" [ref=e4]"
	for step, text := range map[string]string{
		"set Volume to 80%": `"text":"80"`, "set Size to 12 px": `"text":"12"`, "set Size to 5k": `"text":"5k"`,
		"set Note to 80%": `"text":"80%"`,
		"将 Size 设置为 88 元": `"text":"88"`,
	} {
		b := &fakeBrowser{tree: page(tree)}
		if _, _ = one(b, run.Options{}, "steps: ["+step+"]"); len(b.acted()) != 1 || !strings.Contains(b.acted()[0], text) {
			t.Errorf("%s: %q, want %s", step, b.acted(), text)
		}
	}
}
