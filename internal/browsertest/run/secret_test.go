package run_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolfit/toolfit/internal/browsertest/run"
	"github.com/toolfit/toolfit/internal/browsertest/snapshot"
)

func TestSecretsAreMaskedInAllThatIsKept(t *testing.T) {
	var log bytes.Buffer
	b := &fakeBrowser{tree: page(loginPage + "\n- paragraph [ref=e40]: hunter2\n- button \"hunter2\" [ref=e41]\n- button \"hunter2\" " +
		"[ref=e42]")}
	env := func(string) (string, bool) { return "hunter2", true }
	c, res := one(b, run.Options{Env: env, Log: slog.New(slog.NewJSONHandler(&log, nil))},
		"- 在密码输入框输入 ${env:PW}\n- {click: \"${env:PW}\", timeout: 1s}\n")
	raw, _ := json.Marshal(res)
	if strings.Contains(string(raw), "hunter2") || strings.Contains(log.String(), "hunter2") {
		t.Errorf("%s\n%s", raw, log.String())
	}
	if c.Status != run.Failed || !slices.ContainsFunc(b.acted(), func(s string) bool { return strings.Contains(s, "hunter2") }) {
		t.Errorf("%s %v", c.Status, b.acted())
	}
	if n := strings.Count(log.String(), `"msg":"step"`); n != 2 {
		t.Errorf("%d lines for 2 steps:\n%s", n, log.String())
	}
}

// A page may know a secret before a step uses it, and a case that uses none may see it.
func TestSecretsAreMaskedBeforeTheyAreUsed(t *testing.T) {
	env := func(name string) (string, bool) {
		v, ok := map[string]string{"PW": "hunter2", "LATER": "swordfish"}[name]
		return v, ok
	}
	b := &fakeBrowser{tree: page(loginPage + "\n- paragraph [ref=e40]: hunter2 swordfish top5ecret\n")}
	_, res := one(b, run.Options{Env: env, Secrets: []string{"top5ecret"}}, `
cases:
  - {name: "a hunter2", steps: [{expect: {text: nothing like it}, timeout: 1s}, "在密码输入框输入 ${env:PW}"]}
  - {name: b, data: [{x: swordfish}], steps: [{expect: {text: nothing like it}, timeout: 1s, optional: true},
      {expect: {text: "${env:LATER}"}, timeout: 1s}, {fill: {target: 密码, value: "${env:UNSET}"}}]}
`)
	raw, err := json.Marshal(res)
	for _, secret := range []string{"hunter2", "swordfish", "top5ecret"} {
		if strings.Contains(string(raw), secret) || err != nil {
			t.Errorf("%s is in %s %v", secret, raw, err)
		}
	}
	if c := res.Cases[1]; c.Name != "b [x=•••]" || !strings.Contains(c.Error.Message, "the environment has no UNSET") {
		t.Errorf("%s %+v", c.Name, c.Error)
	}
}

func TestACutLeavesNoPartOfASecret(t *testing.T) {
	env := func(string) (string, bool) { return "hunter2hunter2", true }
	for _, before := range []int{86, 90, 95, 150, 185, 189, 193, 197, 199, 493, 1950, 1975, 1984, 1988, 1991, 1995, 1999} { // near each cut
		text := strings.Repeat("x", before) + "hunter2hunter2"
		b := &fakeBrowser{tree: page("- paragraph [ref=e1]: " + text), on: map[string]func(map[string]any) (string, bool){
			"browser_press_key": func(map[string]any) (string, bool) { return "### Error\nError: " + text, true },
			"browser_evaluate":  func(map[string]any) (string, bool) { return "### Result\n" + text, false },
		}}
		_, res := one(b, run.Options{Env: env}, "- {expect: {text: other}, timeout: 1ms, optional: true}\n- {expect: {value: a, target: "+
			"\"#x\"}, timeout: 1ms, optional: true}\n- {press: Enter, optional: true}\n- set: {a: \"${env:PW}\"}\n")
		if raw, _ := json.Marshal(res); strings.Contains(string(raw), "hunt") {
			t.Fatalf("with %d before it: %s", before, raw)
		}
	}
}

func TestWhatAServerSaysOfAFailureIsCutShort(t *testing.T) {
	for _, text := range []string{strings.Repeat("很长", 1e5), "[" + strings.Repeat("1, ", 1e5) + "1]", "Error:\n" + strings.Repeat("x ", 1e5)} {
		b := &fakeBrowser{tree: page(loginPage), on: map[string]func(map[string]any) (string, bool){
			"browser_click": func(map[string]any) (string, bool) { return text, true }}}
		c, _ := one(b, run.Options{}, "- 点击登录\n")
		if got := c.Error.Message; len(got) > 2100 || !utf8.ValidString(got) || c.Error.Details.Code != snapshot.CallFailed {
			t.Errorf("%.20s: %d bytes, %s", text, len(got), c.Error.Details.Code)
		}
	}
}

func TestWhatHoldsASecretIsNotRemembered(t *testing.T) {
	env := func(string) (string, bool) { return "hunter2", true }
	known := memory{}
	b := &fakeBrowser{tree: page("- region \"A hunter2\" [ref=e1]:\n  - button \"保存\" [ref=e2]\n- button \"hunter2\" [ref=e3]\n- " +
		"button \"打开\" [ref=e4]\n")}
	c, _ := one(b, run.Options{Env: env, Memory: known}, "- 点击 打开\n- 点击 保存\n- click: ${env:PW}\n")
	text := fmt.Sprint(known)
	if c.Status != run.Passed || strings.Contains(text, "hunter2") || !strings.Contains(text, "打开") {
		t.Errorf("%s %+v: %s", c.Status, c.Error, text)
	}
}

// Reports show names in small letters, without signs and cut; a secret must be known before that.
func TestWhereAnElementStandsIsToldWithoutSecrets(t *testing.T) {
	const secret = "Hunter-Two/Xyz"
	tree := `
- region "` + secret + `" [ref=e1]:
  - button "保存" [ref=e2]
- table [ref=e3]:
  - row [ref=e4]:
    - cell "` + secret + `" [ref=e5]
    - cell [ref=e6]:
      - button "删除" [ref=e7]
  - row [ref=e8]:
    - cell "A long name that is cut somewhere ` + secret + `" [ref=e9]
    - cell [ref=e10]:
      - button "删除" [ref=e11]
- button "A button of a name that is cut ` + secret + `" [ref=e12]
`
	known := memory{}
	env := func(string) (string, bool) { return secret, true }
	_, res := one(&fakeBrowser{tree: page(tree)}, run.Options{Env: env, Memory: known}, `
- 点击 保存
- {click: 删除, timeout: 1s, optional: true}
- 点击第一行的删除
- {click: A button, timeout: 1s, optional: true}
- {click: "no such ${env:PW}", timeout: 1s, optional: true}
`)
	raw, err := json.Marshal(res)
	for _, text := range []string{string(raw), fmt.Sprint(known)} {
		if text = strings.ToLower(text); err != nil || strings.Contains(text, "hunter") || strings.Contains(text, "xyz") {
			t.Errorf("%s %v", text, err)
		}
	}
	if !strings.Contains(string(raw), "region •••") || !strings.Contains(string(raw), "row •••") {
		t.Errorf("the places are not told at all: %s", raw)
	}
}
