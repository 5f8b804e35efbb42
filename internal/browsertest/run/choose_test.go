package run_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/browsertest/find"
	"github.com/toolfit/toolfit/internal/browsertest/run"
)

const ordersPage = `- button "Place order" [ref=e1]
- button "Reset" [ref=e2]
- row [ref=e3]:
  - cell "SO-1001" [ref=e4]
  - cell [ref=e5]:
    - button "Remove" [ref=e6]
- row [ref=e7]:
  - cell "SO-1002" [ref=e8]
  - cell [ref=e9]:
    - button "Remove" [ref=e10]
- textbox "Note" [ref=e11]: hunter2
`

// says is a chooser with one answer. It keeps what it was asked.
func says(ref string, err error, asked *[]run.Choice) run.Chooser {
	return func(_ context.Context, c run.Choice) (string, error) {
		*asked = append(*asked, c)
		return ref, err
	}
}

func clicks(b *fakeBrowser) (list []string) {
	for _, c := range b.acted() {
		if strings.HasPrefix(c, "browser_click") {
			list = append(list, c)
		}
	}
	return list
}

func TestAChoiceIsAskedForLastAndMarked(t *testing.T) {
	var asked []run.Choice
	b := &fakeBrowser{tree: page(ordersPage)}
	c, res := one(b, run.Options{Choose: says("e1", nil, &asked)}, "- {click: buy it now, timeout: 1s}\n- click Reset\n")
	if c.Status != run.Passed || !c.Healed || len(asked) != 1 {
		t.Fatalf("%s, healed %v, asked %d times: %+v", c.Status, c.Healed, len(asked), c.Error)
	}
	if got := clicks(b); len(got) != 2 || !strings.Contains(got[0], `"target":"e1"`) {
		t.Errorf("clicked %v", got)
	}
	s := c.Steps[0]
	if s.Status != run.Healed || s.Element.By != run.ByModel || s.Element.Name != "Place order" ||
		!strings.Contains(s.Warnings[0], "by a model") {
		t.Errorf("%+v %+v", s, s.Element)
	}
	if c.Steps[1].Element.By != "" {
		t.Error("an element that the words led to is marked")
	}
	if m := res.Metrics; m.Choices != (run.Share{OK: 1, All: 1}) || m.Finds != (run.Share{OK: 2, All: 2}) || m.Healed != 1 {
		t.Errorf("%+v", m)
	}
}

func TestNoAnswerButAnOfferedElementIsTaken(t *testing.T) {
	for name, c := range map[string]struct {
		text, ref string
		err       error
		asked     bool
		why       string
	}{
		"none":                            {"buy it now", "", nil, true, "none of the elements"},
		"a ref that there is not":         {"buy it now", "e99", nil, true, "not among those"},
		"one that serves something else":  {"buy it now", "e4", nil, true, "not among those"},
		"two in one":                      {"buy it now", "e1 e2", nil, true, "not among those"},
		"a row without the identifier":    {"throw SO-1002 away", "e6", nil, true, "not among those"},
		"a selector":                      {"buy it now", "button", nil, true, "not among those"},
		"an error":                        {"buy it now", "e1", errors.New("it is down"), true, "it is down"},
		"nothing on the page is certain":  {"throw SO-1009 away", "e6", nil, false, ""},
		"the words mean two alike":        {"Remove", "e6", nil, false, ""},
		"what is counted is not chosen":   {"third buy button", "e1", nil, false, ""},
		"a quoted name is what it is":     {`"Buy"`, "e1", nil, false, ""},
		"a selector needs no choice":      {"#buy", "e1", nil, false, ""},
		"an expectation is never chosen":  {"", "e1", nil, false, ""},
		"a place by itself is not bent":   {"within", "e1", nil, false, ""},
		"the look-up of a row that is so": {"throw SO-1002 away", "e10", nil, true, "passes"},
	} {
		t.Run(name, func(t *testing.T) {
			var asked []run.Choice
			b := &fakeBrowser{tree: page(ordersPage)}
			b.on = map[string]func(map[string]any) (string, bool){"browser_click": func(args map[string]any) (string, bool) {
				if args["target"] == "#buy" {
					return "### Error\nError: \"#buy\" does not match any elements.", true
				}
				return "### Result\nok", false
			}}
			yaml := "- {click: '" + c.text + "', timeout: 1s}\n"
			switch c.text {
			case "":
				yaml = "- {expect: {visible: buy it now}, timeout: 1s}\n"
			case "within":
				yaml = "- {click: {target: buy it now, within: Checkout}, timeout: 1s}\n"
			}
			got, res := one(b, run.Options{Choose: says(c.ref, c.err, &asked)}, yaml)
			if (len(asked) > 0) != c.asked {
				t.Errorf("asked %v", asked)
			}
			if c.why == "passes" {
				if got.Status != run.Passed || !strings.Contains(clicks(b)[0], `"e10"`) {
					t.Errorf("%s %+v %v", got.Status, got.Error, clicks(b))
				}
				return
			}
			if got.Status != run.Failed || res.Metrics.Choices.OK != 0 {
				t.Errorf("%s, %+v", got.Status, res.Metrics.Choices)
			}
			if acted := clicks(b); len(acted) > 0 && c.text != "#buy" {
				t.Errorf("clicked %v", acted)
			}
			if warnings := strings.Join(got.Steps[0].Warnings, "\n"); !strings.Contains(warnings, c.why) || c.asked && warnings == "" {
				t.Errorf("the report says %q, want %q", warnings, c.why)
			}
		})
	}
}

func TestAChoiceHoldsOnlyWhileItsElementIsThere(t *testing.T) {
	b := &fakeBrowser{tree: page(ordersPage)}
	changes := func(to string) run.Chooser {
		return func(context.Context, run.Choice) (string, error) { b.tree = page(to); return "e1", nil }
	}
	moved := `- button "Reset" [ref=e1]` + "\n" + `- button "Place order" [ref=e2]`
	if c, _ := one(b, run.Options{Choose: changes(moved)}, "- {click: buy it now, timeout: 1s}\n"); c.Status != run.Passed ||
		!strings.Contains(clicks(b)[0], `"target":"e2"`) {
		t.Errorf("the refs have moved: %s %v", c.Status, clicks(b))
	}
	for name, to := range map[string]string{"gone": `- button "Reset" [ref=e1]`, "there twice": `- button "Place order" [ref=e1]` +
		"\n" + `- button "Place order" [ref=e2]`} {
		b = &fakeBrowser{tree: page(ordersPage)}
		if c, _ := one(b, run.Options{Choose: changes(to)}, "- {click: buy it now, timeout: 1s}\n"); c.Status != run.Failed ||
			len(clicks(b)) > 0 {
			t.Errorf("%s: %s %v", name, c.Status, clicks(b))
		}
	}
}

func TestWhoChoosesSeesNoSecrets(t *testing.T) {
	var asked []run.Choice
	b := &fakeBrowser{tree: page(strings.ReplaceAll(ordersPage, "Reset", "Reset hunter2"))}
	env := func(string) (string, bool) { return "hunter2", true }
	one(b, run.Options{Env: env, Choose: says("", nil, &asked)},
		"- fill: {target: Note, value: '${env:PASSWORD}'}\n- {click: 'what says ${env:PASSWORD}', timeout: 1s}\n- {click: buy it now, "+
			"timeout: 1s, optional: true}\n")
	for _, c := range asked {
		if strings.Contains(c.Wanted, "hunter2") || slices.ContainsFunc(c.Elements,
			func(e find.Candidate) bool { return strings.Contains(e.Name+e.Path, "hunter2") }) {
			t.Errorf("%+v", c)
		}
	}
	if len(asked) == 0 {
		t.Error("nobody was asked")
	}
}
