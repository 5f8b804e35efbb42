package find_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/browsertest/find"
	"github.com/toolfit/toolfit/internal/browsertest/snapshot"
)

const shopPage = `- banner [ref=e1]:
  - link "Basket" [ref=e2]
  - button "Save" [ref=e3]
- form "Order" [ref=e4]:
  - textbox "Street" [ref=e5]
  - button "Save" [ref=e6]
  - button "Place order" [ref=e7]
  - button [ref=e8]
- table [ref=e10]:
  - row [ref=e11]:
    - cell "SO-1001" [ref=e12]
    - cell "5 items" [ref=e13]
    - cell [ref=e14]:
      - button "Remove" [ref=e15]
  - row [ref=e21]:
    - cell "SO-1002" [ref=e22]
    - cell "3 items" [ref=e23]
    - cell [ref=e24]:
      - button "Remove" [ref=e25]
- list [ref=e30]:
  - button "Copy" [ref=e31]
  - button "Copy" [ref=e32]
`

func TestOnlyWhatKeepsTheCertainWordsIsOffered(t *testing.T) {
	x := find.New(snapshot.Parse(shopPage), nil)
	all := "e2 e3 e6 e7 e15 e25 e5"
	for _, c := range []struct{ name, text, action, want string }{
		{"all that can be clicked, without twins and the nameless", "buy it now", "click", all},
		{"what can be filled", "where you live", "fill", "e5"},
		{"nothing for an expectation", "buy it now", "", ""},
		{"an identifier picks its row", "cancel the order SO-1002", "click", "e25"},
		{"one that is nowhere, nothing", "cancel the order SO-1009", "click", ""},
		{"a small number stands beside its word", "throw away what has 3 items", "click", "e25"},
		{"not beside another one", "throw away order 3", "click", ""},
		{"a quoted name must be equal", `the "Place order" thing over there`, "click", "e7"},
		{"a quoted name that is nowhere", `the "Purchase" button`, "click", ""},
		{"what counts is not chosen", "second buy button", "click", ""},
		{"nor in Chinese", "第2个购买按钮", "click", ""},
		{"nor a row that is counted", "第2行的购买", "click", ""},
		{"a selector is none of this", "#buy", "click", ""},
	} {
		q := find.Query{Text: c.text, Action: find.Action(c.action)}
		_, err := x.Find(q)
		var r *find.Error
		if !errors.As(err, &r) {
			t.Errorf("%s: it was found", c.name)
			continue
		}
		if got := offered(x, q, r); !sameSet(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestWhatWordsMeanAlikeIsToldApartByNameOrNotAtAll(t *testing.T) {
	x := find.New(snapshot.Parse(shopPage), nil)
	for _, text := range []string{"Save", "Remove", "Copy"} {
		q := find.Query{Text: text, Action: find.Click}
		_, err := x.Find(q)
		var r *find.Error
		if !errors.As(err, &r) || r.Code != snapshot.Ambiguous {
			t.Fatalf("%s: %v", text, err)
		}
		if got := offered(x, q, r); got != "" {
			t.Errorf("%s: the words are used up, and %q is a guess", text, got)
		}
	}
	for _, q := range []find.Query{
		{Text: "buy", Action: find.Click, Within: "Order"}, {Text: "buy", Action: find.Click, Frame: "1"},
		{Text: "buy", Action: find.Click, Nth: 1},
	} {
		if got := offered(x, q, &find.Error{Code: snapshot.NotFound}); got != "" {
			t.Errorf("%+v: got %q", q, got)
		}
	}
	alike := &find.Error{Code: snapshot.Ambiguous, Count: 2, Candidates: []find.Candidate{{Ref: "e6"}, {Ref: "e7"}}}
	if got := offered(x, find.Query{Text: "order", Action: find.Click}, alike); !sameSet(got, "e6 e7") {
		t.Errorf("two of different names: %q", got)
	}
	alike.Count = 6
	if got := offered(x, find.Query{Text: "order", Action: find.Click}, alike); got != "" {
		t.Errorf("not all of them are known: %q", got)
	}
}

func offered(x *find.Index, q find.Query, r *find.Error) string {
	var refs []string
	for _, o := range x.Offer(q, r) {
		refs = append(refs, o.Ref)
	}
	return strings.Join(refs, " ")
}

func sameSet(a, b string) bool {
	x, y := strings.Fields(a), strings.Fields(b)
	if len(x) != len(y) {
		return false
	}
	for _, s := range x {
		if !strings.Contains(" "+b+" ", " "+s+" ") {
			return false
		}
	}
	return true
}
