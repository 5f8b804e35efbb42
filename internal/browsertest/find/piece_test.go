package find_test

import (
	"testing"

	"github.com/toolfit/toolfit/internal/browsertest/find"
)

func TestAPieceOfTextIsFoundByAllOfItsWordsAndOnlyByThem(t *testing.T) {
	hints := []find.Hint{
		{Selector: "#word", Role: "generic", Names: []string{"lectus"}, Acts: true},
		{Selector: "#plain", Role: "generic", Names: []string{"vitae"}},
		{Selector: "#delete", Role: "generic", Names: []string{"Delete all"}, Acts: true},
		{Selector: "#note", Role: "generic", Names: []string{"Terms"}},
		{Selector: "#terms", Role: "generic", Names: []string{"Terms"}, Acts: true},
		{Selector: "#like1", Role: "generic", Names: []string{"l", "Like"}, Acts: true, Near: []string{"Ida", "Hello"}},
		{Selector: "#like2", Role: "generic", Names: []string{"l", "Like"}, Acts: true, Near: []string{"Max", "Hello"}},
		{Selector: "#a", Role: "generic", Names: []string{"twice"}},
		{Selector: "#b", Role: "generic", Names: []string{"twice"}},
		{Selector: "#icon", Role: "generic", Class: "icon-trash"},
	}
	for query, want := range map[string]string{
		"lectus": "#word", `the word "lectus"`: "#word", "the lectus link": "#word", "lectus button": "#word", `"Lectus"`: "#word",
		"vitae": "#plain", "the text vitae": "#plain", "the vitae button": "", "vitae link": "", // nothing shows that it can be pressed
		"Delete": "", "all": "", "Delete all": "#delete",
		"Terms": "#terms", "twice": "",
		"Like": "", "like icon of Ida": "#like1", "Like next to Max": "#like2", "like icon of Hello": "", "Ida's Like": "#like1", "Like of Ann": "",
		"second Like": "", "trash icon": "",
	} {
		got := ""
		if hint := find.FindPiece(find.Query{Text: query, Action: find.Click}, hints); hint != nil {
			got = hint.Selector
		}
		if got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
	if hint := find.FindPiece(find.Query{Text: "lectus", Action: find.Fill}, hints); hint != nil {
		t.Errorf("a piece of text was filled: %+v", hint)
	}
}

func TestATypeIsAskedOnlyWhereTheWordsNeedIt(t *testing.T) {
	const tree = `- generic [ref=e1]:
  - textbox [ref=e2]
  - textbox [ref=e3]
  - textbox "Confirm it" [ref=e4]
  - textbox "Name" [ref=e5]`
	page := map[string]find.Answer{"e2": {Type: "text"}, "e3": {Type: "password"}, "e4": {Type: "password"}, "e5": {Type: "text"}}
	for _, c := range []struct {
		words, ref string
		asks       bool
	}{
		{"the password field", "e3", true}, {"密码框", "e3", true}, {"the second password field", "e4", true}, {"the date field", "", true},
		{"the text area", "", true}, {"Name", "e5", false}, {"Name field", "e5", false}, {"the field", "", false},
		{"Name password field", "", true}, // the page says that it is none
	} {
		hit, asked, err := told(tree, find.Query{Text: c.words, Action: find.Fill}, page)
		if (err == nil) != (c.ref != "") || err == nil && hit.Ref != c.ref {
			t.Errorf("%s: %+v, %v, want %q", c.words, hit, err, c.ref)
		}
		types := false
		for _, q := range asked {
			types = types || q.About == find.InputType
		}
		if types != c.asks {
			t.Errorf("%s: asked %+v", c.words, asked)
		}
	}
}
