package find_test

import (
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/browsertest/find"
	"github.com/toolfit/toolfit/internal/browsertest/snapshot"
)

// For every rule the near case that it must leave alone: "" is a refusal of either kind.
func TestWhatOnlyLooksLikeItIsRefused(t *testing.T) {
	for _, c := range []struct {
		rule, tree string
		want       map[string]string // action and words: ref
	}{
		{"the first of one needs its own name", `
- textbox "Line" [ref=e1]
- button "Save as" [ref=e2]
- combobox "City" [ref=e3]`, map[string]string{
			"fill First line": "", "click the first Save button": "", "select the second dropdown": "", "click the first checkbox": "",
			"select the last dropdown": "e3", "click the last radio button": "", "fill the second field": "e3", "fill the third field": "",
		}},
		{"a text between two fields labels neither", `
- generic [ref=e1]:
  - textbox [ref=e2]
  - text: Phone
  - textbox [ref=e3]`, map[string]string{"fill Phone": ""}},
		{"nor do several between fields", `
- generic [ref=e1]:
  - textbox [ref=e2]
  - text: Phone
  - textbox [ref=e3]
  - text: Street
  - textbox [ref=e4]
  - button "Save" [ref=e5]`, map[string]string{"fill Phone": "", "fill Street": "", "click Save": "e5"}},
		{"texts before fields stay theirs", `
- generic [ref=e1]:
  - text: Phone
  - textbox [ref=e2]
  - text: Street
  - textbox [ref=e3]
  - text: All fields are required`, map[string]string{"fill Phone": "e2", "fill Street": "e3", "fill All fields are required": ""}},
		{"texts after fields are theirs, not of the next", `
- generic [ref=e1]:
  - textbox [ref=e2]
  - text: Phone
  - textbox [ref=e3]
  - text: Street`, map[string]string{"fill Phone": "e2", "fill Street": "e3"}},
		{"texts before boxes are theirs where a box is last", `
- generic [ref=e1]:
  - text: Red
  - checkbox [ref=e2]
  - text: Blue
  - checkbox [ref=e3]`, map[string]string{"check Red": "e2", "check Blue": "e3"}},
		{"a kind that does not fit is not stretched", `
- textbox "Name" [ref=e1]
- combobox "Country" [ref=e2]
- button "Newsletter" [ref=e3]
- checkbox "Red" [ref=e4]
- link "Sent" [ref=e5]
- button "Publish" [disabled] [ref=e6]
- button "Publish" [ref=e7]`, map[string]string{
			"click Name link": "", "click Name checkbox": "", "fill Country slider": "", "check Newsletter": "", "click Red radio": "",
			"click Name icon": "", "click Sent folder": "", "click Publish": "", "click Newsletter cell": "", "click Red option": "e4",
		}},
		{"what is done to a thing is no thing of that name", `
- button "Delete" [ref=e1]
- button "Add" [ref=e2]
- button "Upload" [ref=e3]
- link "删除" [ref=e4]
- button "Edit" [ref=e5]`, map[string]string{
			"click Delete tile": "", "click Add card": "", "click Upload image": "", "click 删除条目": "", "click Edit text": "",
			"click Delete button": "e1", "click 删除按钮": "e4",
		}},
		{"a type of input needs the page, or the very name", `
- textbox "New email" [ref=e1]
- textbox "Name" [ref=e2]
- textbox "Birthday" [ref=e3]`, map[string]string{
			"fill new password field": "", "fill password field": "", "fill date field": "", "fill the second date field": "",
			"fill birthday date field": "e3", "fill the text area": "", "fill search box": "",
		}},
		{"a field with a label is not what its button says", `
- generic [ref=e1]:
  - text: Name
  - textbox [ref=e2]
  - button "Search" [ref=e3]`, map[string]string{"fill search box": "", "fill search field": "", "fill Name": "e2"}},
		{"of two fields neither goes by the button", `
- generic [ref=e1]:
  - textbox [ref=e2]
  - textbox [ref=e3]
  - button "Search" [ref=e4]`, map[string]string{"fill search box": "", "fill the field": ""}},
		{"a number that says something else does not count", `
- link "Tab 3" [ref=e1]
- link "Tab 5" [ref=e2]
- link "Step 2" [ref=e3]
- link "Step 1" [ref=e4]`, map[string]string{
			"click the second tab": "", "click the first tab": "", "click the first step": "", "click the second step": "", "click the third step": "",
		}},
		{"two tiles of one name, and one with two headings", `
- generic [ref=e1] [cursor=pointer]:
  - heading "Weather" [ref=e2]
- generic [ref=e3] [cursor=pointer]:
  - heading "Weather" [ref=e4]
- generic [ref=e5] [cursor=pointer]:
  - heading "Mail" [ref=e6]
  - heading "News" [ref=e7]`, map[string]string{"click the Weather tile": "", "click the Mail tile": "", "click Mail": ""}},
		{"a section ends where the next begins, and a heading is no dialog", `
- generic [ref=e1]:
  - heading "Returns" [level=2] [ref=e2]
  - button "Read" [ref=e3]
  - heading "Shipping" [level=2] [ref=e4]
  - button "Send" [ref=e5]`, map[string]string{
			"click Send in the Returns section": "", "click Send in the Shipping section": "e5", "click Send in the Shipping dialog": "",
		}},
		{"an option of two lists is of neither", `
- combobox "A" [ref=e1]:
  - option "Other"
  - option "Red" [disabled]
- combobox "B" [ref=e2]:
  - option "Other"
  - option "Blue"`, map[string]string{"choose Other": "", "choose Red": "", "choose Blue": "e2", "click Blue": ""}},
		{"numbers after a kind are names", `
- link "3" [ref=e1]
- button "7" [ref=e2]`, map[string]string{"click Section 3": "", "click card 3": "", "click button 7": "e2"}},
		{"next to a cell is in its row, and only there", `
- table [ref=e1]:
  - row [ref=e2]:
    - cell "Ada" [ref=e3]
    - cell [ref=e4]:
      - link "Edit" [ref=e5]
      - link "Delete" [ref=e6]
  - row [ref=e7]:
    - cell "Ben" [ref=e8]
    - cell [ref=e9]:
      - link "Edit" [ref=e10]`, map[string]string{"click Delete next to Ada": "e6", "click Delete next to Ben": "", "click the link next to Ada": ""}},
		{"a list is named by what has opened it, and not by a closed one", `
- generic [ref=e1]:
  - button "Actions" [expanded] [ref=e2]
  - list [ref=e3]:
    - link "Rename" [ref=e4]
  - button "Views" [ref=e5]
  - list [ref=e6]:
    - link "Board" [ref=e7]`, map[string]string{
			"click Rename in the Actions menu": "e4", "click Rename in the Actions dropdown": "e4", "click Board in the Views menu": "",
			"click Board in the Actions menu": "",
		}},
		{"an X is what closes, and nothing that begins with it", `
- button "X-ray" [ref=e1]
- button "Excel" [ref=e2]`, map[string]string{"click X": "", "click the X": ""}},
	} {
		for words, want := range c.want {
			action, text, _ := strings.Cut(words, " ")
			hit, err := find.New(snapshot.Parse(c.tree), nil).Find(find.Query{Action: find.Action(action), Text: text})
			switch {
			case err == nil && hit.Ref != want:
				t.Errorf("%s: WRONG %s: %s %q (%.2f: %s), want %q", c.rule, words, hit.Ref, hit.Node.Name, hit.Score, hit.Why, want)
			case err != nil && want != "":
				t.Errorf("%s: %s: %v", c.rule, words, err)
			}
		}
	}
}
