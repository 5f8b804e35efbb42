package find_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/browsertest/find"
	"github.com/toolfit/toolfit/internal/browsertest/snapshot"
)

const orders = `- generic [ref=e1]:
  - region "A" [ref=e2]:
    - button "Save" [ref=e3]
    - textbox [ref=e4]
  - region "B" [ref=e5]:
    - button "Save" [ref=e6]
  - table [ref=e7]:
    - row [ref=e8]:
      - cell "SO-1" [ref=e9]
      - cell "open" [ref=e10]
      - cell [ref=e11]:
        - button "Edit" [ref=e12]
    - row [ref=e13]:
      - cell "SO-2" [ref=e14]
      - cell "open" [ref=e15]
      - cell [ref=e16]:
        - button "Edit" [ref=e17]
  - iframe [ref=e18]:
    - generic [ref=f1e1]:
      - heading "Pay" [level=1] [ref=f1e2]
      - button "Save" [ref=f1e3]
`

func TestAQueryCanNamePlaceFrameAndNumberBesideItsText(t *testing.T) {
	x := find.New(snapshot.Parse(orders), nil)
	for _, test := range []struct {
		query find.Query
		ref   string
	}{
		{find.Query{Text: "Save", Within: "B"}, "e6"},
		{find.Query{Text: "Save", Frame: "Pay"}, "f1e3"},
		{find.Query{Text: "Save", Frame: "1"}, "f1e3"},
		{find.Query{Text: "Save", Nth: 2}, "e6"},
		{find.Query{Text: "Save", Nth: -1}, "f1e3"},
		{find.Query{Text: "Edit", Within: "SO-2"}, "e17"},
		{find.Query{Text: "Edit", Within: "row SO-1"}, "e12"},
		{find.Query{Text: "Edit", Within: "SO-1 那一行"}, "e12"},
		{find.Query{Text: "Edit", Within: "the row of SO-2"}, "e17"},
		{find.Query{Text: "Edit", Within: "表格的最后一行"}, "e17"},
		{find.Query{Text: "第2行Edit"}, "e17"},
		{find.Query{Text: "SO-2 行 Edit"}, "e17"},
		{find.Query{Text: "row 2 Edit"}, "e17"},
		{find.Query{Text: "首行Edit"}, "e12"},
		{find.Query{Text: "首行的Edit"}, "e12"},
		{find.Query{Text: "B区域里 Save"}, "e6"},
		{find.Query{Text: "first row Edit"}, "e12"},
		{find.Query{Text: "Save", Within: "the \"A\" section"}, "e3"},
	} {
		test.query.Action = find.Click
		hit, err := x.Find(test.query)
		if err != nil || hit.Node.Ref != test.ref || hit.Why == "" {
			t.Errorf("%+v: %+v, %v, want %s", test.query, hit, err, test.ref)
		}
	}
	if _, err := x.Find(find.Query{Text: "Save", Within: "C", Action: find.Click}); err == nil ||
		!strings.Contains(err.Error(), `looked for in "C" alone`) {
		t.Errorf("the place is not named: %v", err)
	}
	for _, q := range []find.Query{{Text: "Save", Within: "C"}, {Text: "Save", Frame: "2"}, {Text: "Save", Nth: 4},
		{Text: "Save", Within: "SO-1"}} {
		q.Action = find.Click
		if hit, err := x.Find(q); err == nil {
			t.Errorf("%+v: found %s", q, hit.Node.Ref)
		}
	}
}

func TestAnErrorNamesTheCandidatesAndWhatWouldHelp(t *testing.T) {
	x := find.New(snapshot.Parse(orders), nil)
	_, err := x.Find(find.Query{Text: "Edit", Action: find.Click})
	var r *find.Error
	if !errors.As(err, &r) || r.Code != snapshot.Ambiguous || r.Count != 2 || len(r.Candidates) != 2 || !strings.Contains(r.Hint, "SO-1") {
		t.Fatalf("%+v", r)
	}
	if c := r.Candidates[0]; c.Ref != "e12" || !strings.Contains(c.Path, "button Edit") || c.Score == 0 || c.Why == "" {
		t.Errorf("%+v", c)
	}
	for _, text := range []string{"", "  ", "。"} {
		if _, err := x.Find(find.Query{Text: text, Action: find.Click}); err == nil {
			t.Errorf("%q was found", text)
		}
	}
}

func TestAMemoryFindsItsElementAgainAndNoOther(t *testing.T) {
	page := snapshot.Parse(orders)
	x := find.New(page, nil)
	for _, ref := range []string{"e3", "e6", "e12", "e17", "f1e3"} {
		node := page.Node(0)
		for n := range page.All() {
			if n.Ref == ref {
				node = n
			}
		}
		d, unique := x.Describe(node)
		if !unique && ref != "f1e3" {
			t.Errorf("%s: not unique: %+v", ref, d)
			continue
		}
		// On the next page every ref is another one, and the rows have changed places.
		later := find.New(snapshot.Parse(strings.NewReplacer("[ref=e", "[ref=x", "SO-1", "SO-2", "SO-2", "SO-1").Replace(orders)), nil)
		hit, err := later.Refind(d)
		want := map[string]string{"e3": "x3", "e6": "x6", "e12": "x17", "e17": "x12", "f1e3": "f1e3"}[ref]
		if err != nil || hit.Node.Ref != want {
			t.Errorf("%s: %+v, %v, want %s", ref, hit, err, want)
		}
		if hit, err := find.New(snapshot.Parse(`- button "Other" [ref=e1]`), nil).Refind(d); err == nil {
			t.Errorf("%s: found on another page: %+v", ref, hit)
		}
	}
	if _, unique := find.New(snapshot.Parse("- button \"A\" [ref=e1]\n- button \"A\" [ref=e2]\n"),
		nil).Describe(snapshot.Parse("- button \"A\" [ref=e1]\n").Node(0)); unique {
		t.Error("one of two equals is remembered as the only one")
	}
}

func TestWhatIsNamelessIsFoundByThePagesSource(t *testing.T) {
	hints := []find.Hint{
		{Selector: "#t", Role: "button", Class: "icon-trash"},
		{Selector: "#searchBtn", Role: "button", ID: "searchBtn", Class: "icon-search"},
		{Selector: "a:nth-child(3)", Role: "link", Href: "/shopping-cart"},
		{Selector: "#as", Role: "button", Class: "btn btn-save-as"},
		{Selector: "#all", Role: "button", ID: "archiveAll"},
	}
	for query, want := range map[string]string{"search icon": "#searchBtn", "搜索图标": "#searchBtn", "delete icon": "#t",
		"购物车图标": "a:nth-child(3)"} {
		hint := find.FindHint(find.Query{Text: query, Action: find.Click}, hints)
		if hint == nil || hint.Selector != want {
			t.Errorf("%s: %+v", query, hint)
		}
	}
	for _, query := range []string{"icon", "print icon", `"search"`, "save icon", "archive button"} {
		if hint := find.FindHint(find.Query{Text: query, Action: find.Click}, hints); hint != nil {
			t.Errorf("%s: %+v", query, hint)
		}
	}
}

func TestSelectorsAreToldFromDescriptions(t *testing.T) {
	for _, text := range []string{"#login", ".btn-primary", "[name=x]", "//div", "css=a", "xpath=//a", "text=Go", "data-testid=x",
		"getByRole('button')", "locator('a')", "div > a", "input[type=text]", "button.primary", "a#x", "a >> nth=0", "button:has-text(\"x\")"} {
		if _, ok := find.ParseSelector(text); !ok {
			t.Errorf("%q is read as a description", text)
		}
	}
	for _, text := range []string{"登录按钮", "Save", "#1 item", ".NET 教程", "[重要] 公告", "首页 > 订单", "the a.b thing", "e-mail", "Sign in",
		"50% off", "a > b 的按钮"} {
		if _, ok := find.ParseSelector(text); ok && text != "a > b 的按钮" {
			t.Errorf("%q is read as a selector", text)
		}
	}
	if !find.IsRef("f7e15") || !find.IsRef("e1") || find.IsRef("e-1") || find.IsRef("登录") {
		t.Error("refs")
	}
}

func TestASelectorThatOnlyTheBrowserKnowsSaysSo(t *testing.T) {
	_, err := find.New(snapshot.Parse(orders), nil).Find(find.Query{Text: "#save", Action: find.Click})
	var r *find.Error
	if !errors.As(err, &r) || !r.NeedsPage {
		t.Errorf("%+v", err)
	}
}

func TestAProjectsOwnSynonymsCount(t *testing.T) {
	page := snapshot.Parse(`- textbox "部门" [ref=e1]`)
	if _, err := find.New(page, nil).Find(find.Query{Text: "科室", Action: find.Fill}); err == nil {
		t.Error("found without the synonym")
	}
	hit, err := find.New(page, &find.Options{Synonyms: []string{"科室 部门 department"}}).Find(find.Query{Text: "department", Action: find.Fill})
	if err != nil || hit.Node.Ref != "e1" {
		t.Errorf("%+v, %v", hit, err)
	}
}

func TestLargeAndOddQueriesAreAnswered(t *testing.T) {
	x := find.New(snapshot.Parse(orders), nil)
	for _, text := range []string{strings.Repeat("的", 3000), strings.Repeat("a in ", 500), "\xff\xfe", "第99999999999999999999个按钮", "“",
		"“”", "'s 's", "\ue000", strings.Repeat("“a”", 40)} {
		if hit, err := x.Find(find.Query{Text: text, Action: find.Click}); err == nil {
			t.Errorf("%.20q: %+v", text, hit)
		}
	}
}

func FuzzFind(f *testing.F) {
	for _, query := range []string{"李四的编辑按钮", "Save button of the \"A\" section", "第2行的Edit", "SO-1's edit",
		"getByRole('button', { name: 'Save' }).nth(1)", "Edit next to SO-2", "frame 1 里的 Save"} {
		f.Add(orders, query, "click")
	}
	f.Fuzz(func(t *testing.T, tree, query, action string) {
		hit, err := find.New(snapshot.Parse(tree), nil).Find(find.Query{Text: query, Action: find.Action(action)})
		var r *find.Error
		switch {
		case err == nil && (hit == nil || hit.Node == nil || hit.Score <= 0):
			t.Fatalf("an empty hit: %+v", hit)
		case err != nil && (!errors.As(err, &r) || len(r.Candidates) > 5 || err.Error() == ""):
			t.Fatalf("an odd noMatch: %v", err)
		}
	})
}
