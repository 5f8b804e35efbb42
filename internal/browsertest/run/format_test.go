package run_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/browsertest/run"
)

func TestAFormatErrorSaysWhatIsTakenAndOfWhichRun(t *testing.T) {
	b := &fakeBrowser{tree: page(`- button "Save" [ref=e1]`), on: map[string]func(map[string]any) (string, bool){
		"browser_click": func(map[string]any) (string, bool) {
			return "### Error\nInvalid arguments for tool \"browser_click\": [{\"expected\":\"string\",\"path\":[\"target\"]}]", true
		},
	}}
	for _, step := range []string{`click Save`, `{click: "${none}"}`, `{eval: "() => 1"}`, `open /x`, `{tab: {select: 9}, timeout: 1ms}`} {
		if step == "{tab: {select: 9}, timeout: 1ms}" {
			b.on["browser_tabs"] = func(map[string]any) (string, bool) { return "### Error\nTab 8 not found", true }
		}
		c, _ := one(b, run.Options{Screenshots: "off"}, "vars: {none: \"\"}\nsteps:\n  - "+step+"\n")
		if c.Error == nil || c.Error.Type != "PARAMETER_FORMAT_ERROR" || c.Error.Details.ExpectedFormat == "" || c.Error.Details.RunID == "" {
			text, _ := json.Marshal(c.Error)
			t.Errorf("%s: %s", step, text)
		}
	}
	c, _ := one(b, run.Options{Screenshots: "off"}, "- click Save\n")
	if c.Error == nil || c.Error.Details.ExpectedFormat != "browser_click {target?}" {
		t.Errorf("%+v", c.Error)
	}
}

func TestTheLogOfACommandShowsWhatCameInAndWhatWentOut(t *testing.T) {
	var out bytes.Buffer
	b := &fakeBrowser{tree: page(`- textbox "User name" [ref=e1]`)}
	one(b, run.Options{Log: slog.New(slog.NewJSONHandler(&out, nil))}, "- {action: fill, selector: user name field, value: ann}\n")
	var line struct{ Before, After, Outcome string }
	if err := json.Unmarshal(out.Bytes(), &line); err != nil {
		t.Fatal(err, out.String())
	}
	if line.Before != `{"action":"fill","selector":"user name field","value":"ann"}` ||
		!strings.Contains(line.After, `"target":"e1"`) || line.Outcome != "passed" {
		t.Errorf("%+v", line)
	}
}
