package steps_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/toolfit/toolfit/internal/browsertest/steps"
)

const login = `name: 登录
base: http://127.0.0.1:8080
tags: [smoke]
vars: {user: admin}
setup:
  - navigate: /login.html
steps:
  - fill: {target: 用户名输入框, value: "${user}"}
  - 在验证码输入框输入 "1234"
  - {click: 登录, timeout: 8s, retries: 1}
  - expect: {text: 登录成功}
  - 点击"注册新账号" -> 出现 "创建账号"
  - {step: 点击 保存, optional: true}
  - click: {role: button, name: 删除, within: 张三, nth: last}
    expect: [{hidden: 张三}, 标题为 "首页", {url: {matches: "/home$"}}]
    fallback:
      - press: Enter
  - {action: fill, selector: "#x", value: ""}
teardown:
  - 截图
data:
  - {user: a}
  - {user: b}
`

func parse(t *testing.T, name, text string, files map[string]string) (*steps.Suite, error) {
	t.Helper()
	return steps.Parse(name, []byte(text), func(path string) ([]byte, error) {
		if data, known := files[path]; known {
			return []byte(data), nil
		}
		return nil, os.ErrNotExist
	})
}

func TestAFileIsReadWhole(t *testing.T) {
	s, err := parse(t, "login.yaml", login, nil)
	if err != nil {
		t.Fatal(err)
	}
	c := s.Cases[0]
	if s.Name != "登录" || s.Base == "" || s.Vars["user"] != "admin" || len(s.Setup) != 1 || len(s.Teardown) != 1 || len(c.Data) != 2 || !slices.Equal(c.Tags, []string{"smoke"}) {
		t.Errorf("%+v", s)
	}
	var got []string
	for _, step := range c.Steps {
		got = append(got, short(step))
	}
	want := []string{
		`fill t=用户名输入框 v=${user}`, `fill t=验证码输入框 v=1234`, `click t=登录`, `expect -> text has=登录成功`, `click t="注册新账号" -> text has=创建账号`, `click t=保存`,
		`click t=getByRole('button', { name: '删除', exact: true }) in=张三 -> hidden t=张三 -> title is=首页 -> url has=/home$`, `fill t=#x v=`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if c.Steps[2].Timeout != 8*time.Second || c.Steps[2].Retries != 1 || !c.Steps[5].Optional || c.Steps[6].Target.Within != "张三" || c.Steps[6].Target.Nth != -1 || len(c.Steps[6].Fallback) != 1 {
		t.Errorf("%+v", c.Steps)
	}
	if c.Steps[1].Line != 9 || c.Steps[1].File != "login.yaml" {
		t.Errorf("line %d of %s", c.Steps[1].Line, c.Steps[1].File)
	}
}

func TestAllFormsOfAStepAreTheSame(t *testing.T) {
	s, err := parse(t, "a.yaml", `
- 在用户名字段输入 "admin"
- type "admin" into 用户名字段
- fill: {target: 用户名字段, value: admin}
- {action: fill, selector: 用户名字段, value: admin}
- {"action": "input", "parameters": {"selector": "用户名字段", "text": "admin"}}
`, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range s.Cases[0].Steps {
		if short(step) != `fill t=用户名字段 v=admin` {
			t.Errorf("%s", short(step))
		}
	}
	for raw, want := range map[string]string{
		`{"action": "wait", "timeout": 1500}`:                                      `wait time=1.5s`,
		`{"action": "click", "selector": "登录按钮"}`:                                  `click t=登录按钮`,
		`{"action": "goto", "url": "/x"}`:                                          `navigate v=/x`,
		`{"action": "expect", "selector": "登录", "condition": "visible"}`:           `expect -> visible t=登录`,
		`{"action": "expect", "selector": "表", "condition": "count", "text": "3"}`: `expect -> count t=表 n=3`,
		`{"action": "expect", "selector": "名", "condition": "value", "text": "a"}`: `expect -> value t=名 is=a`,
		`{"action": "select", "selector": "城市", "value": "北京"}`:                    `select t=城市 v=北京`,
		`{"action": "expect", "condition": "text", "text": "好"}`:                   `expect -> text has=好`,
	} {
		s, err := parse(t, "a.yaml", "- "+raw+"\n", nil)
		if err != nil || short(s.Cases[0].Steps[0]) != want {
			t.Errorf("%s: %v, %v, want %s", raw, s, err, want)
		}
	}
}

func TestAPlanInMarkdownIsRead(t *testing.T) {
	s, err := parse(t, "plan.md", `---
base: http://127.0.0.1:1
vars: {user: admin}
---
# 登录测试

Some words for the reader, 点击 nothing.

## 前置条件
- 打开 /login.html

## 正常登录
1. 在用户名输入框输入 "${user}"
2. 点击登录 -> 出现 "欢迎"

`+"```\n- 点击 not this\n```"+`

## 表格
| 序号 | 操作步骤 | 预期结果 |
|---|---|---|
| 1 | 点击 保存 | 显示 "已保存" |
| 2 | 点击 关闭 | - |

## 清理
- 截图
`, nil)
	if err != nil {
		t.Fatal(err)
	}
	if s.Name != "登录测试" || len(s.Setup) != 1 || len(s.Teardown) != 1 || len(s.Cases) != 2 || s.Cases[0].Name != "正常登录" || len(s.Cases[0].Steps) != 2 || s.Vars["user"] != "admin" {
		t.Fatalf("%+v", s)
	}
	if got := short(s.Cases[1].Steps[0]); got != `click t=保存 -> text has=已保存` || s.Cases[1].Steps[0].Line != 23 || len(s.Cases[1].Steps) != 2 {
		t.Errorf("%s in line %d", got, s.Cases[1].Steps[0].Line)
	}
}

func TestFilesAreIncludedInPlace(t *testing.T) {
	files := map[string]string{
		"lib/login.yaml": "vars: {user: guest}\nsteps:\n  - 点击 登录\n  - include: more.md\n",
		"lib/more.md":    "- 点击 更多\n",
		"loop.yaml":      "- include: loop.yaml\n",
	}
	s, err := parse(t, "a.yaml", "steps:\n  - include: lib/login.yaml\n    with: {user: ann}\n  - 点击 退出\n", files)
	if err != nil {
		t.Fatal(err)
	}
	list := s.Cases[0].Steps
	if len(list) != 4 || list[0].Set["user"] != "ann" || short(list[2]) != "click t=更多" || list[2].File != "lib/more.md" {
		t.Errorf("%+v", list)
	}
	if _, err := parse(t, "a.yaml", "- include: loop.yaml\n", files); err == nil || !strings.Contains(err.Error(), "includes itself") {
		t.Errorf("a circle: %v", err)
	}
	if _, err := parse(t, "a.yaml", "- include: none.yaml\n", files); err == nil || !strings.Contains(err.Error(), "a.yaml:1") {
		t.Errorf("a missing file: %v", err)
	}
}

func TestProblemsSayFileLineAndWhatWasMeant(t *testing.T) {
	for text, want := range map[string]string{
		"steps:\n  - clik: 登录\n":                        `t.yaml:2:5: unknown action "clik"; did you mean "click"?`,
		"steps:\n  - {click: 登录, timeot: 3s}\n":         `did you mean "timeout"?`,
		"step:\n  - 点击\n":                               `unknown key "step" in a test file; did you mean "steps"?`,
		"steps:\n  - 点击 a\n  - 做点什么\n":                  `t.yaml:3`,
		"steps:\n  - {click: a, fill: b}\n":             "a step does one thing",
		"steps:\n  - click: e15\n":                      "is a ref of a snapshot",
		"steps:\n  - fill: {value: x}\n":                "fill needs a target",
		"steps:\n  - {click: a, timeout: soon}\n":       "expected a duration",
		"steps:\n  - {click: a, click: b}\n":            "t.yaml:2",
		"steps: [\n":                                    "is not YAML",
		"steps:\n  - expect: {url: {matches: \"(\"}}\n": "not a regular expression",
		"steps:\n  - expect: {text: a, title: b}\n":     "one kind",
		"steps:\n  - expect: {value: a}\n":              "value needs a target",
		"steps:\n  - {action: klick, selector: a}\n":    `did you mean "click"?`,
		"steps:\n  - press: Foo\n":                      "unknown key",
		"steps:\n  - wait: {text: a, gone: b}\n":        "wait for one thing",
		"steps: []\n":                                   "has no steps",
		"":                                              "expected a test file",
		"name: x\n":                                     "has no steps",
		"cases:\n  - {name: a, steps: [点击 b]}\n  - {name: a, steps: [点击 b]}\n": "two cases are called a",
		"vars: {\"a b\": 1}\nsteps: [点击 b]\n":                                  "not a valid variable name",
		"steps:\n  - &a 点击 b\n":                                                "anchor",
		"steps: " + strings.Repeat("[", 500):                                   "nested deeper",
	} {
		_, err := parse(t, "t.yaml", text, nil)
		var ps steps.Problems
		if !errors.As(err, &ps) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q\n got %v\nwant %s", text, err, want)
		}
	}
}

// schemaOf compiles the published schema with an independent validator.
func schemaOf(t *testing.T) *jsonschema.Schema {
	t.Helper()
	data, err := os.ReadFile("steps.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("steps.json", doc); err != nil {
		t.Fatal(err)
	}
	return c.MustCompile("steps.json")
}

func TestThePublishedSchemaAgreesWithTheParser(t *testing.T) {
	schema := schemaOf(t)
	accepts := func(text string) bool {
		var v any
		if err := yaml.Unmarshal([]byte(text), &v); err != nil {
			return false
		}
		raw, err := json.Marshal(v)
		if err != nil {
			return false
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
		return err == nil && schema.Validate(doc) == nil
	}
	good := []string{login, "- 点击 a\n", "steps:\n  - wait: 3\n  - wait: {gone: x}\n  - tab: {select: 2}\n  - dialog: accept\n  - back:\n  - set: {a: 1}\n  - save: {target: x, as: y}\n  - upload: {target: a, files: [b]}\n  - drag: {target: a, to: b}\n  - scroll: bottom\n  - press: Enter\n  - tool: {name: x, arguments: {a: 1}}\n  - eval: () => 1\n"}
	bad := []string{"step: []\n", "steps:\n  - {clik: a}\n", "steps:\n  - {click: a, fill: {target: b}}\n", "steps:\n  - {click: a, timeot: 1}\n", "steps:\n  - expect: {text: a, title: b}\n", "name: x\n", "steps:\n  - {click: {target: a, valu: b}}\n", "steps:\n  - {click: a, retries: -1}\n"}
	for _, text := range good {
		if _, err := parse(t, "a.yaml", text, nil); err != nil || !accepts(text) {
			t.Errorf("not accepted by both (parser %v, schema %v):\n%s", err, accepts(text), text)
		}
	}
	for _, text := range bad {
		if _, err := parse(t, "a.yaml", text, nil); err == nil || accepts(text) {
			t.Errorf("not refused by both (parser %v, schema accepts %v):\n%s", err, accepts(text), text)
		}
	}
}

func TestVariablesAreFilledAndSecretsMasked(t *testing.T) {
	env := func(name string) (string, bool) {
		v, ok := map[string]string{"PW": `se"cret'1`, "LONG": `se"cret'1-and-more`}[name]
		return v, ok
	}
	v := steps.NewVars(env, map[string]string{"user": "ann", "who": "${user}!", "pw": "${env:PW}"}, map[string]string{"user": "bob"})
	for text, want := range map[string]string{"${who}": "bob!", "a${user}b": "abobb", "$${user}": "${user}", "${pw}": `se"cret'1`, "${env:LONG}": `se"cret'1-and-more`} {
		if got, err := v.Fill(text); err != nil || got != want {
			t.Errorf("%s: %q %v", text, got, err)
		}
	}
	for text, want := range map[string]string{"${usr}": `did you mean "user"?`, "${env:NO}": "environment has no NO", "${}": "no variable"} {
		if _, err := v.Fill(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	v.Set("loop", "$${loop}")
	for _, leak := range []string{`se"cret'1`, `x se"cret'1-and-more y`, `{"v":"se\"cret'1"}`, `?p=se%22cret%271`, `fill('se"cret\'1')`} {
		if got := v.Mask(leak); strings.Contains(got, "cret") || strings.Contains(got, "and-more") {
			t.Errorf("%s: %s", leak, got)
		}
	}
	circle := steps.NewVars(nil, map[string]string{"a": "${b}", "b": "${a}"})
	if _, err := circle.Fill("${a}"); err == nil {
		t.Error("a circle was filled")
	}
}

func FuzzParse(f *testing.F) {
	f.Add("a.yaml", login)
	f.Add("a.md", "# T\n## C\n- 点击 a -> 出现 \"b\"\n|操作|预期|\n|-|-|\n|点击 a|显示 \"b\"|\n")
	f.Add("a.yaml", `{"steps": [{"action": "click", "selector": "x"}]}`)
	f.Fuzz(func(t *testing.T, name, text string) {
		s, err := steps.Parse(name, []byte(text), nil)
		if (s == nil) == (err == nil) {
			t.Fatalf("a suite %v and an error %v", s, err)
		}
	})
}
