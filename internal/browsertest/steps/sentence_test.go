package steps_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/browsertest/snapshot"
	"github.com/toolfit/toolfit/internal/browsertest/steps"
)

// short is a step as the tables below write it.
func short(s steps.Step) string {
	parts := []string{string(s.Action)}
	add := func(name, v string) {
		if v != "" {
			parts = append(parts, name+"="+v)
		}
	}
	if s.Target != nil {
		add("t", s.Target.Text)
		add("in", s.Target.Within)
	}
	if s.To != nil {
		add("to", s.To.Text)
	}
	add("v", s.Value+strings.Join(s.Values, ","))
	if s.Action == steps.Fill && s.Value == "" {
		parts = append(parts, "v=")
	}
	if s.Wait != nil {
		if s.Wait.Time > 0 {
			add("time", s.Wait.Time.String())
		}
		add("text", s.Wait.Text)
		add("gone", s.Wait.Gone)
		add("url", s.Wait.URL)
	}
	if s.Tab != nil {
		b, _ := json.Marshal(s.Tab)
		add("tab", string(b))
	}
	if s.Dialog != nil {
		b, _ := json.Marshal(s.Dialog)
		add("dialog", string(b))
	}
	for _, e := range s.Expect {
		parts = append(parts, "-> "+shortExpect(e))
	}
	return strings.Join(parts, " ")
}

func shortExpect(e steps.Expectation) string {
	out := string(e.Kind)
	if e.Target != nil {
		out += " t=" + e.Target.Text
	}
	if e.Match == steps.Equals && e.Kind != steps.Count {
		out += " is=" + e.Value
	} else if e.Value != "" {
		out += " has=" + e.Value
	}
	if e.Kind == steps.Count {
		out += fmt.Sprintf(" n=%d", e.Count)
	}
	return out
}

func TestSentencesBecomeSteps(t *testing.T) {
	for line, want := range map[string]string{
		// The named cases.
		`在用户名字段输入 "admin"`: `fill t=用户名字段 v=admin`,
		`点击登录按钮`:           `click t=登录按钮`,
		// Navigation.
		`打开 /login.html`:                 `navigate v=/login.html`,
		`访问 https://example.com/a,b?x=1`: `navigate v=https://example.com/a,b?x=1`,
		`进入 www.example.com`:             `navigate v=www.example.com`,
		`打开页面：${base}/x`:                 `navigate v=${base}/x`,
		`go to http://127.0.0.1:80/`:     `navigate v=http://127.0.0.1:80/`,
		`Open the page /cart`:            `navigate v=/cart`,
		`visit localhost:3000/a`:         `navigate v=localhost:3000/a`,
		`返回上一页`:                          `back`, `go back`: `back`, `刷新页面`: `reload`, `reload the page`: `reload`,
		// Clicks.
		`点击"注册新账号"`: `click t="注册新账号"`, `单击 “保存” 按钮`: `click t=“保存” 按钮`, `请点击保存。`: `click t=保存`,
		`双击第一行`: `dblclick t=第一行`, `右键点击 文件`: `rightclick t=文件`, `选择 北京`: `click t=北京`,
		`Click on the "Save" button`: `click t=the "Save" button`, `double-click the row`: `dblclick t=the row`,
		`right click Folder`: `rightclick t=Folder`,
		`1. click Save`:      `click t=Save`, `2、点击保存`: `click t=保存`, `- [ ] 点击保存`: `click t=保存`, `步骤3：点击保存`: `click t=保存`,
		`tap Sign in`: `click t=Sign in`, `点击张三的删除按钮`: `click t=张三的删除按钮`,
		// Text.
		`在搜索框中输入“手机”`: `fill t=搜索框 v=手机`, `输入用户名为"admin"`: `fill t=用户名 v=admin`, `填写 邮箱：a@b.c`: `fill t=邮箱 v=a@b.c`,
		`输入"admin"到用户名输入框`: `fill t=用户名输入框 v=admin`, `将数量设置为 3`: `fill t=数量 v=3`, `清空搜索框`: `clear t=搜索框`, `在备注中输入 ""`: `fill t=备注 v=`,
		`用户名输入框输入"a"`: `fill t=用户名输入框 v=a`, `在密码输入框输入 ${env:PASSWORD}`: `fill t=密码输入框 v=${env:PASSWORD}`,
		`type "admin" into the user name field`: `fill t=the user name field v=admin`,
		`enter "a, then click b" in Notes`:      `fill t=Notes v=a, then click b`,
		`fill in Email with "x@y.z"`:            `fill t=Email v=x@y.z`, `fill Password with ${env:PW}`: `fill t=Password v=${env:PW}`,
		`set Quantity to 2`: `fill t=Quantity v=2`, `clear the search box`: `clear t=the search box`,
		// Choices.
		`在城市下拉框中选择"北京"`: `select t=城市下拉框 v=北京`, `选择城市为“上海”`: `select t=城市 v=上海`, `从 科室 选择 内科`: `select t=科室 v=内科`,
		`在语言选择框中选择"中文"`:           `select t=语言选择框 v=中文`,
		`select "Berlin" in City`: `select t=City v=Berlin`, `choose Red from the colour list`: `select t=the colour list v=Red`,
		`勾选服务协议`: `check t=服务协议`, `取消勾选 记住我`: `uncheck t=记住我`, `check Remember me`: `check t=Remember me`,
		`uncheck the newsletter box`: `uncheck t=the newsletter box`,
		// Keys, mouse, files.
		`按回车`: `press v=Enter`, `按下 Ctrl+A`: `press v=Control+A`, `按 Esc 键`: `press v=Escape`, `press Enter`: `press v=Enter`,
		`press Shift+Tab`: `press v=Shift+Tab`, `hit the F5 key`: `press v=F5`,
		`在搜索框中按回车`: `press t=搜索框 v=Enter`, `press Enter in the search field`: `press t=the search field v=Enter`,
		`press Save button`: `click t=Save button`, `按下保存按钮`: `click t=保存按钮`,
		`悬停在 产品 上`: `hover t=产品`, `将鼠标移到用户菜单`: `hover t=用户菜单`, `hover over Products`: `hover t=Products`,
		`把 任务一 拖到 已完成`: `drag t=任务一 to=已完成`, `drag Card to Done`: `drag t=Card to=Done`,
		`上传 "a.png" 到 附件`: `upload t=附件 v=a.png`, `upload "a.png" to Attachment`: `upload t=Attachment v=a.png`, `上传文件 "b.pdf"`: `upload v=b.pdf`,
		`滚动到页面底部`: `scroll v=bottom`, `滚动到 评论`: `scroll t=评论`, `scroll down`: `scroll v=down`, `scroll to the footer`: `scroll t=the footer`,
		`截图`: `screenshot`, `take a screenshot`: `screenshot`, `截图 "首页"`: `screenshot v=首页`,
		// Waits, tabs, dialogs.
		`等待 3 秒`: `wait time=3s`, `等待500毫秒`: `wait time=500ms`, `wait 90 seconds`: `wait time=1m30s`, `等待"加载中"消失`: `wait gone=加载中`,
		`等待 "完成" 出现`:      `wait text=完成`,
		`wait for "Done"`: `wait text=Done`, `wait for "Loading" to disappear`: `wait gone=Loading`,
		`wait for url to contain "/home"`: `wait url=/home`, `等待网址包含 "/home"`: `wait url=/home`,
		`打开新标签页 https://a.b/`:      `tab tab={"New":true,"URL":"https://a.b/","Select":0,"Title":"","Close":false}`,
		`切换到第2个标签页`:                `tab tab={"New":false,"URL":"","Select":2,"Title":"","Close":false}`,
		`switch to the second tab`: `tab tab={"New":false,"URL":"","Select":2,"Title":"","Close":false}`,
		`close the tab`:            `tab tab={"New":false,"URL":"","Select":0,"Title":"","Close":true}`,
		`接受弹窗`:                     `dialog dialog={"Accept":true,"Text":""}`, `拒绝弹窗`: `dialog dialog={"Accept":false,"Text":""}`,
		`accept the dialog with "yes"`: `dialog dialog={"Accept":true,"Text":"yes"}`,
		`dismiss the alert`:            `dialog dialog={"Accept":false,"Text":""}`,
		// Expectations.
		`应显示"欢迎"`: `expect -> text has=欢迎`, `验证页面标题为"首页"`: `expect -> title is=首页`, `检查网址包含 "/home"`: `expect -> url has=/home`,
		`期望 用户名的值为 "admin"`: `expect -> value t=用户名 is=admin`,
		`不应出现"错误"`:          `expect -> no-text has=错误`, `登录按钮应该可见`: `expect -> visible t=登录按钮`, `验证提交按钮不可用`: `expect -> disabled t=提交按钮`,
		`检查记住我已勾选`:  `expect -> checked t=记住我`,
		`应该有 5 行订单`: `expect -> count t=订单 n=5`, `验证删除按钮消失`: `expect -> hidden t=删除按钮`,
		`expect "Welcome"`: `expect -> text has=Welcome`, `verify the title is "Home"`: `expect -> title is=Home`,
		`expect url contains "/home"`: `expect -> url has=/home`, `the Save button should be disabled`: `expect -> disabled t=Save button`,
		`check that "Done" is visible`:         `expect -> text has=Done`,
		`verify the value of Email is "a@b.c"`: `expect -> value t=Email is=a@b.c`,
		`should not see "Error"`:               `expect -> no-text has=Error`,
		`verify there are 3 Delete buttons`:    `expect -> count t=Delete buttons n=3`,
		`expect the dialog is hidden`:          `expect -> hidden t=dialog`, `see the Save button`: `expect -> visible t=Save button`,
		// An operation and what it brings.
		`点击"注册新账号" -> 出现 "创建账号"`:                       `click t="注册新账号" -> text has=创建账号`,
		`点击登录 → 网址包含 "/home"，显示 "欢迎"`:                  `click t=登录 -> url has=/home -> text has=欢迎`,
		`click Save => see "Saved"`:                    `click t=Save -> text has=Saved`,
		`click Delete -> the Delete button disappears`: `click t=Delete -> hidden t=Delete button`,
		`-> 出现 "x"`: `expect -> text has=x`,
	} {
		list, err := steps.ParseSentence(line)
		if err != nil || len(list) != 1 || short(list[0]) != want {
			got := ""
			for _, s := range list {
				got += short(s) + "; "
			}
			t.Errorf("%s\n got %s %v\nwant %s", line, got, err, want)
		}
	}
}

func TestCompoundLinesAreCutAtVerbsOnly(t *testing.T) {
	for line, want := range map[string]string{
		`在用户名输入"admin"，在密码输入"secret"，点击登录`:                    `fill t=用户名 v=admin; fill t=密码 v=secret; click t=登录`,
		`打开 /a，然后点击 保存 -> 出现 "好"`:                             `navigate v=/a; click t=保存 -> text has=好`,
		`输入用户名为"a"并点击登录`:                                      `fill t=用户名 v=a; click t=登录`,
		`open /login, type "a" into Name and then click Save`: `navigate v=/login; fill t=Name v=a; click t=Save`,
		`click Terms and conditions`:                          `click t=Terms and conditions`,
		`点击“是，继续”`:                                            `click t=“是，继续”`,
		`点击再来一次`:                                              `click t=再来一次`,
		`点击 确定，取消 按钮`:                                         `click t=确定，取消 按钮`,
		`点击保存，应显示"已保存"`:                                       `click t=保存; expect -> text has=已保存`,
		`click Save, then verify the title is "Done"`:         `click t=Save; expect -> title is=Done`,
	} {
		list, err := steps.ParseSentence(line)
		var got []string
		for _, s := range list {
			got = append(got, short(s))
		}
		if err != nil || strings.Join(got, "; ") != want {
			t.Errorf("%s\n got %s %v\nwant %s", line, strings.Join(got, "; "), err, want)
		}
	}
}

func TestWhatCannotBeReadIsRefusedWithTheNearestForm(t *testing.T) {
	for line, hint := range map[string]string{
		``: "empty", `登录`: "点击", `进入订单管理`: "打开", `点击登录 -> 登录成功`: "出现", `do something`: "verb", `点击`: "点击 …", `点击登录 ->`: "arrow",
		`在用户名`: "verb", strings.Repeat("点击", 3000): "longer", "\xff\xfe": "verb",
	} {
		list, err := steps.ParseSentence(line)
		var p steps.Problem
		if !errors.As(err, &p) || p.Code != snapshot.StepUnparsable || !strings.Contains(p.Text, hint) {
			t.Errorf("%.30q: %v %v, want %q", line, list, err, hint)
		}
	}
}

func FuzzParseSentence(f *testing.F) {
	for _, line := range []string{`在用户名输入"admin"，点击登录 -> 出现 "x"`, `type "a" into B and then press Ctrl+A => see "C"`, `等待 3 秒`,
		`验证 X 的值为 “y”`, `'s`, `${`} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		list, err := steps.ParseSentence(line)
		if err == nil && len(list) == 0 {
			t.Fatal("no steps and no problem")
		}
		for _, s := range list {
			if s.Action == "" || s.Target != nil && s.Target.Text == "" {
				t.Fatalf("%+v", s)
			}
		}
	})
}
