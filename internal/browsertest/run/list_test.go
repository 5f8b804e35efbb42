package run_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/browsertest/run"
)

func TestAChoiceUnderWhatIsDrawnIsClickedByItsBox(t *testing.T) {
	b := &fakeBrowser{tree: page(`- generic [ref=e1]:
  - generic [ref=e2] [cursor=pointer]:
    - radio "Monthly" [ref=e3]
    - generic [ref=e4]: Monthly
  - generic [ref=e5] [cursor=pointer]:
    - checkbox "I agree to the terms" [ref=e6]
    - link "terms" [ref=e7]`)}
	c, _ := one(b, run.Options{}, "steps: [勾选 Monthly, check I agree to the terms]")
	want := []string{
		`browser_click {"element":"Monthly","target":"e2"}`,
		`browser_click {"element":"I agree to the terms","target":"e6"}`, // its box holds a link, too
	}
	if c.Status != run.Passed || !slices.Equal(b.acted(), want) {
		t.Errorf("%s %q", c.Status, b.acted())
	}
}

func TestFillingAListChoosesItsOption(t *testing.T) {
	b := &fakeBrowser{tree: page(`- combobox "Status" [ref=e1]:
  - option "Open" [selected]
  - option "Paid"`)}
	c, _ := one(b, run.Options{}, `steps: [set Status to "Paid"]`)
	if want := []string{`browser_select_option {"element":"Status","target":"e1","values":["Paid"]}`}; c.Status != run.Passed ||
		!slices.Equal(b.acted(), want) {
		t.Errorf("%s %q", c.Status, b.acted())
	}
}

func TestAFieldThatOpensAListIsNotWaitedFor(t *testing.T) {
	b := &fakeBrowser{tree: page(`- generic [ref=e1]:
  - generic [ref=e2]: Kind
  - textbox "Please choose" [ref=e3] [cursor=pointer]
- listitem [ref=e4] [cursor=pointer]: Question`)}
	c, _ := one(b, run.Options{Timeout: time.Minute}, `steps: [select "Question" in Kind]`)
	want := []string{`browser_click {"element":"Kind","target":"e3"}`, `browser_click {"element":"\"Question\"","target":"e4"}`}
	if c.Status != run.Passed || !slices.Equal(b.acted(), want) || b.now.Sub(time.Unix(0, 0)) > time.Second {
		t.Errorf("%s after %v: %q", c.Status, b.now.Sub(time.Unix(0, 0)), b.acted())
	}
}

func TestTheNewTabIsTheLastOne(t *testing.T) {
	b := &fakeBrowser{tree: page(`- button "A" [ref=e1]`), on: map[string]func(map[string]any) (string, bool){
		"browser_tabs": func(map[string]any) (string, bool) {
			return "### Open tabs\n- 0: (current) [A](http://a/)\n- 1: [B](http://b/)\n- 2: [C](http://c/)\n", false
		},
	}}
	c, _ := one(b, run.Options{}, `steps: [切换到新标签页]`)
	if want := []string{`browser_tabs {"action":"list"}`, `browser_tabs {"action":"select","index":2}`}; c.Status != run.Passed ||
		!slices.Equal(b.acted(), want) {
		t.Errorf("%s %q", c.Status, b.acted())
	}
}

func TestATabThatIsAboutToOpenIsWaitedFor(t *testing.T) {
	for step, want := range map[string]string{"switch to tab 2": "select", "{tab: {select: Help}}": "list"} {
		asked := 0
		b := &fakeBrowser{tree: page(`- button "A" [ref=e1]`), on: map[string]func(map[string]any) (string, bool){
			"browser_tabs": func(args map[string]any) (string, bool) {
				if asked++; asked < 4 && args["action"] == "select" {
					return "Error: Tab 1 not found", true
				}
				if asked < 4 {
					return "### Open tabs\n- 0: (current) [A](http://a/)\n", false
				}
				return "### Open tabs\n- 0: (current) [A](http://a/)\n- 1: [Help](http://h/)\n", false
			},
		}}
		if c, _ := one(b, run.Options{}, "steps: ["+step+"]"); c.Status != run.Passed || asked < 4 {
			t.Errorf("%s is %s after %d times: %q", step, c.Status, asked, b.acted())
		}
		asked = -1000
		if c, _ := one(b, run.Options{Timeout: time.Second}, "steps: ["+step+"]"); c.Status != run.Failed ||
			!strings.Contains(b.acted()[0], want) {
			t.Errorf("%s is %s although it never opens: %q", step, c.Status, b.acted())
		}
	}
}
