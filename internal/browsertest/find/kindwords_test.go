package find_test

import (
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/browsertest/find"
	"github.com/toolfit/toolfit/internal/browsertest/snapshot"
)

// ordinary are words that people use for the roles.
var ordinary = map[string]struct {
	action find.Action
	words  string
}{
	"button":     {find.Click, "button, btn, push button, icon, 按钮"},
	"link":       {find.Click, "link, hyperlink, text link, 链接"},
	"tab":        {find.Click, "tab, tab header, 标签页"},
	"menuitem":   {find.Click, "menu item, menu option, 菜单项"},
	"option":     {find.Click, "option, list item, choice, 选项"},
	"treeitem":   {find.Click, "tree item, node, 节点"},
	"checkbox":   {find.Check, "checkbox, check box, tick box, box, 复选框"},
	"radio":      {find.Check, "radio button, radio, option, 单选框"},
	"switch":     {find.Check, "switch, toggle, 开关"},
	"textbox":    {find.Fill, "field, text field, text input, text box, input, input field, box, 输入框, 文本框"},
	"searchbox":  {find.Fill, "search box, search field, field, 搜索框"},
	"spinbutton": {find.Fill, "spinner, number field, stepper, field, 数字框"},
	"slider":     {find.Fill, "slider, range slider, 滑块"},
	"combobox":   {find.Select, "dropdown, drop-down list, select, list, combo box, 下拉框, 列表"},
	"listbox":    {find.Select, "list, list box, scroll list, 列表"},
}

// A word for the kind of an element may make it clearer which is meant, but never mean another.
func TestAKindNeverLeadsToAnotherElement(t *testing.T) {
	pages := map[string]bool{}
	for _, pattern := range []string{"testdata/*.page", "testdata/kits/*.page"} {
		writtenQueries(t, pattern, func(tree, _ string) { pages[tree] = true })
	}
	found, all := 0, 0
	for tree := range pages {
		page := snapshot.Parse(tree)
		x := find.New(page, nil)
		for n := range page.All() {
			kind, known := ordinary[n.Role]
			if !known || n.Name == "" || n.Ref == "" {
				continue
			}
			if hit, err := x.Find(find.Query{Text: n.Name, Action: kind.action}); err != nil || hit.Node != n {
				continue
			}
			for word := range strings.SplitSeq(kind.words, ", ") {
				all++
				hit, err := x.Find(find.Query{Text: n.Name + " " + word, Action: kind.action})
				switch {
				case err == nil && hit.Node == n:
					found++
				case err == nil:
					t.Errorf("%s %s: %s %q (%s), want %s %q", n.Name, word, hit.Node.Role, hit.Node.Name, hit.Why, n.Role, n.Name)
				default:
					t.Logf("%s %s: %v", n.Name, word, err)
				}
			}
		}
	}
	t.Logf("%d of %d found", found, all)
	if found*100 < all*97 {
		t.Errorf("%d of %d found", found, all)
	}
}

// A word for another kind leads to nothing that is not of it.
func TestAnotherKindIsRefused(t *testing.T) {
	others := []string{"slider", "text field", "spinner", "scroll list", "password field", "date picker", "table cell", "滑块", "文本框", "密码框"}
	visited := map[string]bool{}
	writtenQueries(t, "testdata/*.page", func(tree, _ string) {
		if visited[tree] {
			return
		}
		visited[tree] = true
		page := snapshot.Parse(tree)
		x := find.New(page, nil)
		for n := range page.All() {
			if kind := ordinary[n.Role]; kind.action != find.Click || n.Name == "" || n.Parent != nil && strings.HasSuffix(n.Parent.Role, "cell") {
				continue
			}
			for _, word := range others {
				if hit, err := x.Find(find.Query{Text: n.Name + " " + word, Action: find.Click}); err == nil && hit.Node == n {
					t.Errorf("%s %s: %s (%s)", n.Name, word, n.Role, hit.Why)
				}
			}
		}
	})
}
