package run_test

import (
	"bytes"
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/browsertest/run"
	"github.com/toolfit/toolfit/internal/browsertest/snapshot"
)

const loginPage = `- textbox "用户名" [ref=e18]
- textbox "密码" [ref=e20]
- button "登录" [ref=e19]
- checkbox "记住我" [checked] [ref=e21]
- combobox "城市" [ref=e22]:
  - option "北京" [selected]
- button "删除" [ref=e23]
- button "删除" [ref=e24]
- button "禁用的" [disabled] [ref=e25]`

func TestAllFormsSendTheSameCall(t *testing.T) {
	b := &fakeBrowser{tree: page(loginPage)}
	c, _ := one(b, run.Options{}, `
- 在用户名字段输入 "admin"
- fill: {target: 用户名字段, value: admin}
- {action: fill, selector: 用户名字段, value: admin}
- 点击登录按钮
- {action: click, selector: 登录按钮}
`)
	if c.Status != run.Passed {
		t.Fatalf("%+v", c.Error)
	}
	fill, click := `browser_type {"element":"用户名字段","target":"e18","text":"admin"}`, `browser_click {"element":"登录按钮","target":"e19"}`
	if want := []string{fill, fill, fill, click, click}; !slices.Equal(b.acted(), want) {
		t.Errorf("got %v", b.acted())
	}
}

func TestArgumentsAreFittedAndRecordedBothWays(t *testing.T) {
	b := &fakeBrowser{tree: page(loginPage)}
	fit := func([]run.Tool) run.Fitter {
		return func(_ context.Context, c run.Call) (run.Call, error) {
			c.Arguments = bytes.Replace(c.Arguments, []byte(`"target"`), []byte(`"ref"`), 1)
			return c, nil
		}
	}
	c, res := one(b, run.Options{Fit: fit}, "- 点击登录\n")
	calls := c.Steps[0].Calls
	last := calls[len(calls)-1]
	if string(last.Before) != `{"element":"登录","target":"e19"}` || string(last.After) != `{"element":"登录","ref":"e19"}` {
		t.Errorf("%s → %s", last.Before, last.After)
	}
	if e := c.Steps[0].Element; e == nil || e.Name != "登录" || e.Why == "" {
		t.Errorf("%+v", e)
	}
	if m := res.Metrics; m.Finds.OK != 1 || m.Finds.All != 1 || m.Calls.OK != 2 || m.Snapshots != 1 {
		t.Errorf("%+v", m)
	}
}

func TestNothingIsClickedThatIsNotCertain(t *testing.T) {
	for target, code := range map[string]snapshot.Code{"删除": snapshot.Ambiguous, "注册": snapshot.NotFound} {
		b := &fakeBrowser{tree: page(loginPage)}
		c, res := one(b, run.Options{ID: "r1"}, "- {click: "+target+", timeout: 2s}\n- 点击登录\n")
		e := c.Error
		if c.Status != run.Failed || e.Type != "ELEMENT_NOT_FOUND" || e.Details.Code != code || e.Details.RunID != "r1" ||
			e.Details.Selector != target || slices.ContainsFunc(b.acted(), func(s string) bool { return strings.HasPrefix(s, "browser_click") }) {
			t.Errorf("%s: %+v, %v", target, e, b.acted())
		}
		if c.Steps[1].Status != run.Skipped || c.Steps[0].Screenshot == nil || res.Passed() {
			t.Errorf("%s: %+v", target, c.Steps)
		}
	}
}

func TestAnElementIsWaitedForUntilTheTimeIsOver(t *testing.T) {
	b := &fakeBrowser{}
	b.tree = func() string {
		if b.now.Sub(time.Unix(0, 0)) < 3*time.Second {
			return "- generic"
		}
		return loginPage
	}
	if c, _ := one(b, run.Options{}, "- 点击登录\n"); c.Status != run.Passed {
		t.Errorf("%+v", c.Error)
	}
	b = &fakeBrowser{tree: b.tree}
	if c, _ := one(b, run.Options{}, "- {click: 登录, timeout: 1s}\n"); c.Status != run.Failed {
		t.Error("passed before it was there")
	}
}

func TestLookUpsWithoutAnActionBetweenThemCostOneSnapshot(t *testing.T) {
	b := &fakeBrowser{tree: page(loginPage)}
	c, res := one(b, run.Options{}, "- expect: {visible: 登录}\n- expect: {visible: 登录}\n- expect: {enabled: 登录}\n- 点击登录\n- expect: "+
		"{visible: 登录}\n")
	if c.Status != run.Passed || res.Metrics.Snapshots != 2 || res.Metrics.CacheHits < 3 {
		t.Errorf("%+v %+v", c.Error, res.Metrics)
	}
}

func TestAStaleElementIsLookedUpOnceMore(t *testing.T) {
	tries := 0
	b := &fakeBrowser{tree: page(loginPage), on: map[string]func(map[string]any) (string, bool){
		"browser_click": func(map[string]any) (string, bool) {
			tries++
			return "### Error\nError: Ref e19 not found in the current page snapshot. Try capturing new snapshot.", tries == 1
		},
	}}
	c, res := one(b, run.Options{}, "- 点击登录\n")
	if c.Status != run.Passed || tries != 2 || res.Metrics.Stale != 1 || res.Metrics.Recoveries != (run.Share{OK: 1, All: 1}) {
		t.Errorf("%+v %d %+v", c.Error, tries, res.Metrics)
	}
	tries = -100
	b.on["browser_click"] = func(map[string]any) (string, bool) {
		tries++
		return "### Error\nError: Ref e19 not found in the current page snapshot.", true
	}
	if c, _ := one(b, run.Options{}, "- 点击登录\n"); c.Status != run.Failed || tries != -98 || c.Error.Details.Code != snapshot.StaleRef {
		t.Errorf("%+v %d", c.Error, tries)
	}
}

func TestIsErrorIsFailureAndNothingElseIs(t *testing.T) {
	b := &fakeBrowser{tree: page(loginPage), on: map[string]func(map[string]any) (string, bool){
		"browser_click": func(map[string]any) (string, bool) { return "### Result\nerror failed not found", false },
	}}
	if c, _ := one(b, run.Options{}, "- 点击登录\n"); c.Status != run.Passed {
		t.Errorf("%+v", c.Error)
	}
	b.on["browser_click"] = func(map[string]any) (string, bool) { return "### Result\nsuccess", true }
	if c, _ := one(b, run.Options{}, "- 点击登录\n"); c.Status != run.Failed || c.Error.Type != "MCP_CALL_FAILED" {
		t.Errorf("%+v", c.Error)
	}
}

func TestWhatMayHaveActedIsNotRepeated(t *testing.T) {
	b := &fakeBrowser{tree: page(loginPage), err: map[string]error{"browser_click": errPipe}}
	c, _ := one(b, run.Options{}, "- {click: 登录, retries: 3, fallback: [按回车]}\n")
	if c.Status != run.Broken || len(b.acted()) != 1 || c.Error.Details.Code != snapshot.ServerGone {
		t.Errorf("%+v %v", c.Error, b.acted())
	}
	b = &fakeBrowser{tree: page(loginPage), err: map[string]error{"browser_click": errPipe}}
	if one(b, run.Options{}, "- {click: 登录, idempotent: true}\n"); len(b.acted()) != 2 {
		t.Errorf("%v", b.acted())
	}
}

func TestFallbacksAreTriedInOrderAndTheFirstErrorCounts(t *testing.T) {
	var log bytes.Buffer
	b := &fakeBrowser{tree: page(loginPage)}
	c, res := one(b, run.Options{Log: slog.New(slog.NewTextHandler(&log, nil))},
		"- {click: 注册, timeout: 1s, fallback: [{click: 加入, timeout: 1s}, 按回车]}\n")
	if c.Status != run.Passed || c.Steps[0].Status != run.Healed || len(c.Steps[0].Failures) != 2 || !c.Healed ||
		res.Metrics.Healed != 1 || !strings.Contains(log.String(), "Fallback failed: ") {
		t.Errorf("%+v\n%s", c.Steps[0], log.String())
	}
	c, _ = one(b, run.Options{}, "- {click: 注册, timeout: 1s, fallback: [{click: 加入, timeout: 1s}]}\n")
	if c.Status != run.Failed || !strings.Contains(c.Error.Message, "注册") || len(c.Steps[0].Failures) != 2 {
		t.Errorf("%+v", c)
	}
}

func TestExpectationsCanFail(t *testing.T) {
	for yaml, ok := range map[string]bool{
		`{text: 用户名}`: true, `{text: 没有}`: false, `{no-text: 没有}`: true, `{no-text: 登录}`: false,
		`{visible: 登录}`: true, `{visible: 注册}`: false, `{hidden: 注册}`: true, `{hidden: 登录}`: false, `{hidden: 删除}`: false,
		`{value: 北京, target: 城市}`: true, `{value: 上海, target: 城市}`: false,
		`{checked: 记住我}`: true, `{unchecked: 记住我}`: false, `{enabled: 登录}`: true, `{disabled: 登录}`: false, `{disabled: 禁用的}`: true,
		`{enabled: 禁用的}`:           false,
		`{count: 2, target: 删除按钮}`: true, `{count: 3, target: 删除按钮}`: false, `{count: 0, target: 注册}`: true,
		`{url: /login}`: true, `{url: /log}`: false, `{url: {contains: login}}`: true, `{url: {matches: "log.n$"}}`: true,
		`{url: "http://h/login"}`: true, `{url: "http://h/"}`: false,
		`{title: T}`: true, `{title: t}`: false, `{text: 登录, target: 登录按钮}`: true, `{text: {equals: 登}, target: 登录按钮}`: false,
	} {
		b := &fakeBrowser{tree: page(loginPage), url: "http://h/login"}
		c, _ := one(b, run.Options{Base: "http://h"}, "- {expect: "+yaml+", timeout: 1s}\n")
		if (c.Status == run.Passed) != ok {
			t.Errorf("%s: %s %+v", yaml, c.Status, c.Error)
		}
		if !ok && (c.Error == nil || c.Error.Details.Code != snapshot.AssertionFailed || c.Error.Details.ActualFormat == "" &&
			!strings.Contains(yaml, "visible")) {
			t.Errorf("%s: %+v", yaml, c.Error)
		}
	}
}

func TestABoxIsClickedOnlyWhenItDiffers(t *testing.T) {
	b := &fakeBrowser{tree: page(loginPage)}
	one(b, run.Options{}, "- 勾选 记住我\n")
	if len(b.acted()) != 0 {
		t.Errorf("%v", b.acted())
	}
	one(b, run.Options{}, "- 取消勾选 记住我\n")
	if !slices.Contains(b.acted(), `browser_click {"element":"记住我","target":"e21"}`) {
		t.Errorf("%v", b.acted())
	}
}

func TestDialogsAreAnsweredByStepOrPolicyOrFailTheStep(t *testing.T) {
	open := false
	b := &fakeBrowser{tree: page(loginPage)}
	modal := "### Modal state\n- [\"confirm\" dialog with message \"Sure?\"]: can be handled by browser_handle_dialog\n"
	b.on = map[string]func(map[string]any) (string, bool){
		"browser_click": func(map[string]any) (string, bool) { open = true; return modal, false },
		"browser_handle_dialog": func(args map[string]any) (string, bool) {
			open = false
			return "### Page\n", false
		},
		"browser_press_key": func(map[string]any) (string, bool) {
			if open {
				return "### Error\nError: Tool \"browser_press_key\" does not handle the modal state.\n" + modal, true
			}
			return "", false
		},
	}
	for yaml, want := range map[string]run.Status{
		"- 点击登录\n- 接受弹窗\n- 按回车\n":                       run.Passed,
		"- 点击登录 -> 出现 \"Sure?\"\n- 接受弹窗\n":              run.Passed,
		"- 点击登录\n- 按回车\n":                               run.Failed,
		"dialogs: dismiss\nsteps:\n  - 点击登录\n  - 按回车\n": run.Passed,
		"dialogs: fail\nsteps:\n  - 点击登录\n  - 按回车\n":    run.Failed,
	} {
		open = false
		if c, _ := one(b, run.Options{}, yaml); c.Status != want || open {
			t.Errorf("%q: %s %+v, open %v", yaml, c.Status, c.Error, open)
		}
	}
}

func TestLongWaitsBecomeSeveralCalls(t *testing.T) {
	b := &fakeBrowser{tree: page(loginPage)}
	one(b, run.Options{}, "- wait: 70s\n- {action: wait, timeout: 1500}\n")
	if want := []string{`browser_wait_for {"time":30}`, `browser_wait_for {"time":30}`, `browser_wait_for {"time":10}`,
		`browser_wait_for {"time":1.5}`}; !slices.Equal(b.acted(), want) {
		t.Errorf("%v", b.acted())
	}
}

func TestAnOptionOfAListMadeOfBoxesIsClicked(t *testing.T) {
	opened := false
	b := &fakeBrowser{}
	b.tree = func() string {
		if opened {
			return "- combobox \"语言\" [ref=e1]\n- listbox [ref=e2]:\n  - option \"中文\" [ref=e3]\n  - option \"中文（繁体）\" [ref=e4]"
		}
		return "- combobox \"语言\" [ref=e1]"
	}
	b.on = map[string]func(map[string]any) (string, bool){
		"browser_select_option": func(map[string]any) (string, bool) {
			return "### Error\nError: locator.selectOption: Error: Element is not a <select> element", true
		},
		"browser_click": func(map[string]any) (string, bool) { opened = true; return "", false },
	}
	c, _ := one(b, run.Options{}, "- 在语言中选择\"中文\"\n")
	if got := b.acted(); c.Status != run.Passed || len(got) != 3 || !strings.Contains(got[2], `"e3"`) {
		t.Errorf("%+v %v", c.Error, got)
	}
}
