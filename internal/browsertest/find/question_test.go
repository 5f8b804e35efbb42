package find_test

import (
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/browsertest/find"
	"github.com/toolfit/toolfit/internal/browsertest/snapshot"
)

// told finds with a page that answers questions by ref.
func told(tree string, q find.Query, page map[string]find.Answer) (*find.Hit, []find.Question, error) {
	x := find.New(snapshot.Parse(tree), nil)
	var asked []find.Question
	ask := func(list []find.Question) bool {
		for _, d := range list {
			asked = append(asked, d)
			x.SetAnswer(d, page[d.Ref])
		}
		return len(list) > 0
	}
	ask(x.Questions(q, nil, nil))
	hit, err := x.Find(q)
	for ask(x.Questions(q, hit, err)) {
		hit, err = x.Find(q)
	}
	return hit, asked, err
}

func TestFramesGoByTitleNameAndCaption(t *testing.T) {
	const tree = `- generic [ref=e1]:
  - iframe [ref=e2]:
    - button "Save" [ref=f1e1]
  - iframe [ref=e3]:
    - button "Save" [ref=f2e1]
  - figure "Shipping" [ref=e4]:
    - iframe [ref=e5]:
      - button "Save" [ref=f3e1]
  - paragraph [ref=e6]: Legal terms
  - iframe [ref=e7]:
    - button "Save" [ref=f4e1]
`
	page := map[string]find.Answer{"e2": {Names: []string{"Payment"}}, "e3": {Names: []string{"付款"}}}
	for _, c := range []struct {
		query find.Query
		ref   string
	}{
		{find.Query{Text: "Save in the payment frame"}, "f1e1"},
		{find.Query{Text: "付款框架中的 Save"}, "f2e1"},
		{find.Query{Text: "Save", Frame: "付款"}, "f2e1"},
		{find.Query{Text: "Save", Frame: "Payment"}, "f1e1"},
		{find.Query{Text: "Save", Within: "the payment frame"}, "f1e1"},
		{find.Query{Text: "Save in the shipping frame"}, "f3e1"},
		{find.Query{Text: "Save", Frame: "Legal terms"}, "f4e1"},
		{find.Query{Text: "Save", Frame: "2"}, "f2e1"},
		{find.Query{Text: "Save in the voucher frame"}, ""},
	} {
		c.query.Action = find.Click
		hit, _, err := told(tree, c.query, page)
		if (err == nil) != (c.ref != "") || err == nil && hit.Ref != c.ref {
			t.Errorf("%+v: %+v, %v, want %s", c.query, hit, err, c.ref)
		}
	}
	if _, asked, _ := told(tree, find.Query{Text: "Save", Action: find.Click}, nil); len(asked) != 0 {
		t.Errorf("no frame was named, and %d were asked about", len(asked))
	}
}

func TestWhatLiesBehindAModalDialogIsNoCandidate(t *testing.T) {
	const tree = `- generic [ref=e1]:
  - button "Cancel" [ref=e2]
  - button "Save" [ref=e3]
  - textbox "Name" [ref=e4]
  - dialog "Sure" [ref=e5]:
    - button "OK" [ref=e6]
    - button "Save" [ref=e7]
  - listbox [ref=e8]:
    - option "Red" [ref=e9]
`
	for _, c := range []struct {
		action find.Action
		text   string
		page   find.Answer
		ref    string
	}{
		{find.Click, "Cancel", find.Answer{}, "e2"},
		{find.Click, "Cancel", find.Answer{Modal: true}, ""},
		{find.Click, "Cancel", find.Answer{Inert: true}, ""},
		{find.Click, "getByRole('button', { name: 'Cancel' })", find.Answer{Modal: true}, ""},
		{find.Fill, "Name", find.Answer{Modal: true}, ""},
		{find.Any, "Cancel", find.Answer{Modal: true}, "e2"}, // it can still be seen
		{find.Click, "OK", find.Answer{Modal: true}, "e6"},
		{find.Click, "Save", find.Answer{Inert: true}, "e7"},
		{find.Click, "Red", find.Answer{Modal: true}, "e9"}, // drawn over the dialog
		{find.Click, "Red", find.Answer{Inert: true}, ""},
	} {
		hit, asked, err := told(tree, find.Query{Text: c.text, Action: c.action}, map[string]find.Answer{"e5": c.page})
		if (err == nil) != (c.ref != "") || err == nil && hit.Ref != c.ref {
			t.Errorf("%+v: %+v, %v", c, hit, err)
		}
		if err != nil && !strings.Contains(err.Error(), "modal dialog") {
			t.Errorf("%+v: the dialog is not named: %v", c, err)
		}
		if c.text == "OK" && len(asked) != 0 {
			t.Error("what stands in the dialog needs no question")
		}
	}
}

func TestALabelWhoseFieldIsGoneNamesNobodyElse(t *testing.T) {
	const tree = `- generic [ref=e1]:
  - generic [ref=e2]: Phone
  - textbox [ref=e3]
`
	for _, others := range []bool{false, true} {
		hit, _, err := told(tree, find.Query{Text: "Phone", Action: find.Fill}, map[string]find.Answer{"e3": {Others: others}})
		if (err != nil) != others {
			t.Errorf("label of another %v: %+v, %v", others, hit, err)
		}
	}
	label := find.New(snapshot.Parse("- generic \"姓名\" [ref=e1]: \"姓名 :\"\n- generic \"简介\" [ref=e2]\n"), nil)
	if hit, err := label.Find(find.Query{Text: "姓名", Action: find.Fill}); err == nil {
		t.Errorf("filled the label %+v", hit)
	}
	if hit, err := label.Find(find.Query{Text: "简介", Action: find.Fill}); err != nil || hit.Ref != "e2" {
		t.Errorf("editable content: %+v, %v", hit, err)
	}
}
