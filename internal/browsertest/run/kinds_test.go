package run_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/browsertest/run"
)

// ariaKinds are the roles of WAI-ARIA that a snapshot shows, each with a word for it in both
// languages.
var ariaKinds = map[string][2]string{
	"alert": {"提示", "alert"}, "alertdialog": {"对话框", "alert dialog"}, "application": {"应用", "application"}, "article": {"文章", "article"},
	"banner": {"页头", "banner"}, "blockquote": {"引用", "quote"}, "button": {"按钮", "button"}, "caption": {"题注", "caption"},
	"cell": {"单元格", "cell"}, "checkbox": {"复选框", "checkbox"}, "code": {"代码", "code"}, "columnheader": {"列标题", "column header"},
	"combobox": {"下拉框", "dropdown"}, "complementary": {"侧边栏", "sidebar"}, "contentinfo": {"页脚", "footer"}, "definition": {"定义", "definition"},
	"deletion": {"删除内容", "deletion"}, "dialog": {"对话框", "dialog"}, "directory": {"目录", "directory"}, "document": {"文档", "document"},
	"emphasis": {"强调", "emphasis"}, "feed": {"信息流", "feed"}, "figure": {"插图", "figure"}, "form": {"表单", "form"},
	"grid": {"表格", "grid"}, "gridcell": {"单元格", "gridcell"}, "group": {"分组", "group"}, "heading": {"标题", "heading"},
	"img": {"图片", "image"}, "insertion": {"插入内容", "insertion"}, "link": {"链接", "link"}, "list": {"列表", "list"},
	"listbox": {"列表框", "listbox"}, "listitem": {"列表项", "list item"}, "log": {"日志", "log"}, "main": {"主内容区", "main content"},
	"mark": {"高亮", "highlight"}, "marquee": {"跑马灯", "marquee"}, "math": {"公式", "formula"}, "menu": {"菜单", "menu"},
	"menubar": {"菜单栏", "menu bar"}, "menuitem": {"菜单项", "menu item"}, "menuitemcheckbox": {"菜单项", "menuitemcheckbox"},
	"menuitemradio": {"菜单项", "menuitemradio"},
	"meter":         {"仪表", "meter"}, "navigation": {"导航", "navigation"}, "note": {"注释", "note"}, "option": {"选项", "option"},
	"paragraph": {"段落", "paragraph"}, "progressbar": {"进度条", "progress bar"}, "radio": {"单选框", "radio button"},
	"radiogroup": {"单选组", "radio group"},
	"region":     {"区域", "region"}, "row": {"行", "row"}, "rowgroup": {"行组", "row group"}, "rowheader": {"行标题", "row header"},
	"scrollbar": {"滚动条", "scrollbar"}, "search": {"搜索栏", "search form"}, "searchbox": {"搜索框", "search box"}, "separator": {"分隔线", "separator"},
	"slider": {"滑块", "slider"}, "spinbutton": {"数字框", "number field"}, "status": {"状态", "status"}, "strong": {"加粗", "strong"},
	"subscript": {"下标", "subscript"}, "superscript": {"上标", "superscript"}, "switch": {"开关", "switch"}, "tab": {"标签页", "tab"},
	"table": {"表格", "table"}, "tablist": {"标签栏", "tab list"}, "tabpanel": {"标签面板", "tab panel"}, "term": {"术语", "term"},
	"textbox": {"输入框", "text field"}, "time": {"时间", "time"}, "timer": {"计时器", "timer"}, "toolbar": {"工具栏", "toolbar"},
	"tooltip": {"工具提示", "tooltip"}, "tree": {"树", "tree"}, "treegrid": {"树形表格", "tree grid"}, "treeitem": {"树节点", "tree item"},
}

// controls have a name from what is written in them, and fields a value.
var controls = strings.Fields("button link checkbox radio switch tab menuitem menuitemcheckbox menuitemradio option treeitem " +
	"textbox searchbox spinbutton combobox slider listbox")

// shows are the ways in which a snapshot writes an element of a role: by its name, by the text
// in it, by what it holds.
func shows(role, name string) []string {
	list := []string{
		fmt.Sprintf("  - %s %q [ref=e2]\n", role, name),
		fmt.Sprintf("  - %s [ref=e2]: %s\n", role, name),
		fmt.Sprintf("  - %s [ref=e2]:\n    - paragraph [ref=e3]: %s\n", role, name),
	}
	if slices.Contains(controls, role) {
		return list[:1]
	}
	return list
}

func TestWhatIsShownIsVisibleAndWhatIsRemovedIsHiddenForEveryRole(t *testing.T) {
	const around = "- generic [ref=e1]:\n%s  - generic [ref=e90]: Copyright 2026\n"
	for role, words := range ariaKinds {
		zh, en := words[0], words[1]
		for _, name := range []string{"Orders", "订单"} {
			for _, text := range []string{name, name + " " + en, name + zh, `"` + name + `" ` + en, "the " + en, zh} {
				for i, shown := range append(shows(role, name), "") {
					for _, kind := range []string{"visible", "hidden"} {
						b := &fakeBrowser{tree: page(fmt.Sprintf(around, shown))}
						c, _ := one(b, run.Options{Screenshots: "off"}, fmt.Sprintf("- {expect: {%s: '%s'}, timeout: 1ms}\n", kind, text))
						if (c.Status == run.Passed) != ((shown != "") == (kind == "visible")) {
							t.Errorf("%s %s, form %d of %s: %v", kind, text, i, role, c.Error)
						}
					}
				}
			}
		}
	}
}

func TestHiddenFailsWhereWhatIsThereMayBeMeantAndNamesIt(t *testing.T) {
	const tree = `- generic [ref=e1]:
  - button "Delete all" [ref=e2]
  - generic [ref=e3]:
    - generic [ref=e4]: 确认删除
    - button "好的" [ref=e5]
  - heading "Edit" [level=1] [ref=e6]
  - status [ref=e7]: 登录成功
  - table [ref=e8]:
    - row "SO-1 Ann" [ref=e9]:
      - cell "SO-1" [ref=e10]
      - cell "Ann" [ref=e11]
    - row "SO-2 Bob" [ref=e12]:
      - cell "SO-2" [ref=e13]
      - cell "Bob" [ref=e14]
  - generic [ref=e15]: Total 3
`
	for expectation, names := range map[string]string{ // what is named; "": it is hidden
		`{hidden: Delete button}`:               "button Delete all",
		`{hidden: '"Delete" button'}`:           "",
		`{hidden: 确认删除对话框}`:                     "确认删除",
		`{hidden: 取消删除对话框}`:                     "",
		`{hidden: Edit dialog}`:                 "heading Edit",
		`{hidden: Edit button}`:                 "",
		`{hidden: 登录按钮}`:                        "",
		`{hidden: the row of SO-1}`:             "row SO-1",
		`{hidden: SO-2 行}`:                      "row SO-2",
		`{hidden: the row of SO-3}`:             "",
		`{hidden: Ann in the row of SO-1}`:      "cell Ann",
		`{hidden: Bob in the row of SO-1}`:      "",
		`{hidden: {target: Ann, within: SO-2}}`: "",
		`{hidden: 。}`:                           "cannot be looked for",
		`{count: 0, target: table}`:             "1",
		`{count: 0, target: Delete button}`:     "button Delete all",
		`{count: 0, target: dialog}`:            "",
		`{hidden: Total}`:                       "Total 3",
	} {
		c, _ := one(&fakeBrowser{tree: page(tree)}, run.Options{Screenshots: "off"}, fmt.Sprintf("- {expect: %s, timeout: 1ms}\n", expectation))
		if names == "" && c.Error != nil || names != "" && (c.Error == nil || !strings.Contains(c.Error.Message, names)) {
			t.Errorf("%s: %v, want %q", expectation, c.Error, names)
		}
	}
	if c, _ := one(&fakeBrowser{tree: page("")}, run.Options{Screenshots: "off"},
		"- {expect: {hidden: dialog}, timeout: 1ms}\n"); c.Error == nil {
		t.Error("a page that shows nothing was taken for one without a dialog")
	}
	if c, _ := one(&fakeBrowser{tree: page(tree)}, run.Options{Screenshots: "off"},
		"- {expect: {visible: {target: Ann, within: SO-2}}, timeout: 1ms}\n"); c.Error == nil {
		t.Error("Ann was seen in the row of SO-2")
	}
}

func TestWaitingForAKindOfElementLooksForTheElement(t *testing.T) {
	const dialog, plain = "- dialog \"Confirm\" [ref=e1]:\n  - button \"OK\" [ref=e2]\n", "- button \"Reload\" [ref=e1]\n"
	for _, step := range []string{"wait for the dialog to disappear", "等待对话框消失", "wait for the Confirm dialog to disappear",
		"wait: {gone: dialog}"} {
		for tree, want := range map[string]bool{dialog: false, plain: true} {
			c, _ := one(&fakeBrowser{tree: page(tree)}, run.Options{Screenshots: "off", Timeout: time.Millisecond}, "- "+step+"\n")
			if (c.Error == nil) != want {
				t.Errorf("%s on %q: %v", step, tree, c.Error)
			}
		}
	}
	for _, step := range []string{"wait for the dialog to appear", "等待对话框出现"} {
		for tree, want := range map[string]bool{dialog: true, plain: false} {
			c, _ := one(&fakeBrowser{tree: page(tree)}, run.Options{Screenshots: "off", Timeout: time.Millisecond}, "- "+step+"\n")
			if (c.Error == nil) != want {
				t.Errorf("%s on %q: %v", step, tree, c.Error)
			}
		}
	}
}
