package run_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/browsertest/run"
	"github.com/toolfit/toolfit/internal/browsertest/snapshot"
	"github.com/toolfit/toolfit/internal/browsertest/steps"
)

func TestCasesRowsRetriesSetupAndTeardown(t *testing.T) {
	b := &fakeBrowser{tree: page(loginPage)}
	_, res := one(b, run.Options{}, `
vars: {who: x}
setup: [打开 http://h/start]
teardown: [按 Esc]
cases:
  - name: rows
    data: [{who: 登录}, {who: 注册}]
    steps: [{click: "${who}", timeout: 1s}]
  - name: left out
    skip: not ready
    steps: [点击登录]
  - name: flaky
    retries: 1
    steps: [{click: 登录, timeout: 1s}, {expect: {text: 用户名}, timeout: 1s}]
`)
	var got []string
	for _, c := range res.Cases {
		got = append(got, c.Name+" "+string(c.Status))
	}
	if want := []string{"rows [who=登录] passed", "rows [who=注册] failed", "left out skipped", "flaky passed"}; !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
	if last := res.Cases[1].Steps; last[len(last)-1].Status != run.Passed || last[len(last)-1].Action != steps.Press {
		t.Errorf("the teardown did not run: %+v", last)
	}
	if n := strings.Count(strings.Join(b.calls, "\n"), "browser_close"); n != 2 {
		t.Errorf("%d fresh starts, want 2", n)
	}
}

func TestACaseThatPassesWhenRepeatedIsFlaky(t *testing.T) {
	b := &fakeBrowser{}
	visits := 0
	b.on = map[string]func(map[string]any) (string, bool){
		"browser_navigate": func(map[string]any) (string, bool) {
			visits++
			return "", false
		}}
	b.tree = func() string {
		if visits < 2 {
			return "- generic"
		}
		return loginPage
	}
	c, res := one(b, run.Options{Retries: 2}, "- 打开 http://h/\n- {click: 登录, timeout: 1s}\n")
	if c.Status != run.Flaky || c.Attempts != 2 || len(c.Earlier) != 1 || c.Error != nil || !res.Passed() || res.Metrics.Flaky != 1 {
		t.Errorf("%+v", c)
	}
}

func TestVariablesAreSetAndSaved(t *testing.T) {
	b := &fakeBrowser{tree: page(loginPage)}
	c, _ := one(b, run.Options{Vars: map[string]string{"a": "1"}},
		"vars: {a: \"0\", b: \"${a}-x\"}\nsteps:\n  - save: {target: 城市, as: city}\n  - set: {c: \"${city}/${b}\"}\n  - 在用户名输入 "+
			"\"${c}\"\n  - 在用户名输入 \"${nope}\"\n")
	if want := `browser_type {"element":"用户名","target":"e18","text":"北京/1-x"}`; !slices.Contains(b.acted(), want) {
		t.Errorf("%v", b.acted())
	}
	if c.Error == nil || c.Error.Type != "PARAMETER_FORMAT_ERROR" || !strings.Contains(c.Error.Message, "nope") {
		t.Errorf("%+v", c.Error)
	}
}

func TestAddressesGetTheirBase(t *testing.T) {
	for value, want := range map[string]string{"/a": "http://h:1/x/a", "b.html": "http://h:1/x/b.html", "https://c/d": "https://c/d",
		"example.com/e": "https://example.com/e", "localhost:3/f": "http://localhost:3/f"} {
		b := &fakeBrowser{tree: page(loginPage)}
		one(b, run.Options{Base: "http://h:1/x/"}, "- navigate: "+value+"\n")
		if got := b.acted(); len(got) != 1 || got[0] != `browser_navigate {"url":"`+want+`"}` {
			t.Errorf("%s: %v", value, got)
		}
	}
	b := &fakeBrowser{tree: page(loginPage)}
	if c, _ := one(b, run.Options{}, "- navigate: /a\n"); c.Error == nil || c.Error.Details.Code != snapshot.BadValue ||
		!strings.Contains(c.Error.Message, "the file has no base: add base") {
		t.Errorf("a path without a base: %+v", c.Error)
	}
}

// memory is a Memory in memory.
type memory map[string]run.Remembered

func (m memory) Get(key string) (run.Remembered, bool) { r, ok := m[key]; return r, ok }
func (m memory) Put(key string, r run.Remembered)      { m[key] = r }

func TestWhatWasFoundBeforeIsFoundAgainWhenTheWordsFail(t *testing.T) {
	known := memory{}
	b := &fakeBrowser{tree: page("- region \"A\" [ref=e1]:\n  - button \"保存\" [ref=e2]\n")}
	one(b, run.Options{Memory: known}, "- 点击保存\n")
	if len(known) != 1 {
		t.Fatalf("%v", known)
	}
	if raw, _ := json.Marshal(known); strings.Contains(string(raw), "e2") {
		t.Errorf("a ref is remembered: %s", raw)
	}
	b = &fakeBrowser{tree: page("- region \"B\" [ref=e1]:\n  - button \"保存\" [ref=e2]\n- region \"A\" [ref=e3]:\n  - button \"保存\" " +
		"[ref=e4]\n")}
	c, _ := one(b, run.Options{Memory: known}, "- {click: 保存, timeout: 1s}\n")
	if c.Steps[0].Status != run.Healed || !strings.Contains(strings.Join(b.acted(), ""), `"e4"`) {
		t.Errorf("%+v %v", c.Error, b.acted())
	}
	one(&fakeBrowser{tree: page("- generic")}, run.Options{Memory: known}, "- {click: 别的, timeout: 1s}\n- expect: {visible: x}\n")
	if len(known) != 1 {
		t.Errorf("a failed step was remembered: %v", known)
	}
}

func TestACanceledRunEnds(t *testing.T) {
	b := &fakeBrowser{tree: page("- generic")}
	suite, _ := steps.Parse("t.yaml", []byte("- 点击登录\n"), nil)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	res := b.runner(run.Options{Retries: 5}).Suite(ctx, suite)
	if c := res.Cases[0]; res.Passed() || c.Status != run.Skipped || c.Reason != run.NotBegun || c.Attempts != 1 || len(b.calls) != 0 {
		t.Errorf("%+v", c)
	}
}

func TestARunThatIsEndedSaysWhereAndLeavesTheRest(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	b := &fakeBrowser{tree: page(loginPage)}
	b.on = map[string]func(map[string]any) (string, bool){"browser_click": func(map[string]any) (string, bool) { cancel(); return "", true }}
	suite, err := steps.Parse("t.yaml", []byte("teardown: [截图]\ncases:\n  - {name: a, retries: 3, steps: [打开 http://h/, {click: 登录, "+
		"optional: true, fallback: [按 回车]}, 按 回车]}\n  - {name: b, steps: [打开 http://h/]}\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	res := b.runner(run.Options{}).Suite(ctx, suite)
	c := res.Cases[0]
	if c.Status != run.Broken || c.Error.Details.Code != run.Ended || strings.Contains(c.Error.Message, "context") ||
		c.Attempts != 1 || res.Cases[1].Status != run.Skipped {
		t.Errorf("%+v %+v", c, res.Cases[1])
	}
	for i, want := range []run.Status{run.Passed, run.Failed, run.Skipped, run.Passed} { // the teardown is run
		if c.Steps[i].Status != want {
			t.Errorf("step %d is %s, want %s", i+1, c.Steps[i].Status, want)
		}
	}
}

func TestFailuresShowTheValuesOfVariablesButNoSecret(t *testing.T) {
	env := func(string) (string, bool) { return "s3cret", true }
	b := &fakeBrowser{tree: page(loginPage)}
	_, res := one(b, run.Options{Env: env}, `
vars: {who: 李四}
cases:
  - name: a
    data: [{pw: "${env:PW}"}, {pw: "${env:PW}", n: 2}]
    steps: [{expect: {title: "${who} ${pw}"}, timeout: 1s}]
  - name: b
    steps: [{click: "${who} ${env:PW}", timeout: 1s}]
`)
	for i, want := range []string{"a [row 1]", "a [n=2, row 2]", "b"} {
		c := res.Cases[i]
		text, _ := json.Marshal(c)
		if c.Name != want || !strings.Contains(c.Error.Message, `李四 •••"`) || strings.Contains(string(text), "s3cret") {
			t.Errorf("%s: %s", c.Name, text)
		}
	}
	if d := res.Cases[2].Error.Details; d.Selector != "李四 •••" {
		t.Errorf("%+v", d)
	}
}

func TestWhatIsRememberedOfTheFirstIsNotUsedForOneWithoutANumber(t *testing.T) {
	b := &fakeBrowser{tree: page("- region \"A\" [ref=e1]:\n  - button \"Save\" [ref=e2]\n- region \"B\" [ref=e3]:\n  - button " +
		"\"Save\" [ref=e4]\n")}
	known := memory{}
	if c, _ := one(b, run.Options{Memory: known}, "- click: {target: Save, nth: 1}\n"); c.Status != run.Passed || len(known) != 1 {
		t.Fatalf("%+v, %v", c.Error, known)
	}
	if c, _ := one(b, run.Options{Memory: known}, "- {click: Save, timeout: 1s}\n"); c.Status != run.Failed {
		t.Errorf("one of two was chosen: %v", b.acted())
	}
}
