package grammar_test

import (
	"testing"

	"github.com/toolfit/toolfit/internal/browsertest/grammar"
)

func TestQuotesEndWhereTheirPairStands(t *testing.T) {
	for _, c := range []struct {
		text, before, want string
		size               int
	}{
		{`"Save" button`, "", "Save", 6},
		{`“是，继续”`, "点击", "是，继续", 18},
		{"`a` b", "", "a", 3},
		{`""`, "", "", 2},
		{`'Save'`, "click ", "Save", 6},
		{`'保存'`, "点击", "保存", 8},
		{`'s edit 'x'`, "Ann", "", 0},
		{`"open`, "", "", 0},
		{`Save`, "", "", 0},
	} {
		if got, size := grammar.Quoted(c.text, c.before); got != c.want || size != c.size {
			t.Errorf("%s after %q: %q, %d", c.text, c.before, got, size)
		}
	}
}

func TestNumbersAndOrdinalsAreReadInBothLanguages(t *testing.T) {
	for text, want := range map[string]int{"3": 3, "三": 3, "两": 2, "十": 10, "十二": 12, "九十九": 99, "x": 0, "": 0, "-1": 0, "0": 0} {
		if got := grammar.Number(text); got != want {
			t.Errorf("%s: %d", text, got)
		}
	}
	for text, want := range map[string]int{"first": 1, "Tenth": 10, "2nd": 2, "13th": 13, "last": -1, "nd": 0, "month": 0, "": 0} {
		if got := grammar.Ordinal(text); got != want {
			t.Errorf("%s: %d", text, got)
		}
	}
}

func TestAPersonsNameIsNoOrdinal(t *testing.T) {
	for text, want := range map[string]bool{"First name": true, "last names": true, "given name": true, "first button": false,
		"first nameless": false} {
		if grammar.IsPersonName(text) != want {
			t.Errorf("%s: not %v", text, want)
		}
	}
}

func FuzzQuoted(f *testing.F) {
	f.Add(`"a" b`, "x")
	f.Add("'s", "Ann")
	f.Fuzz(func(t *testing.T, text, before string) {
		if got, size := grammar.Quoted(text, before); size < len(got) || size > len(text) {
			t.Fatalf("%q: %q, %d", text, got, size)
		}
	})
}
