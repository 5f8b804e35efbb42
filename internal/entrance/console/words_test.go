package console

import "testing"

func TestNamesAndMasksGoOnInTheNextLineWhereTheyHaveAJoint(t *testing.T) {
	for name, want := range map[string]string{
		"shop__find_customers": "shop__<wbr>find_<wbr>customers",
		"a(id,name),b":         "a(id,<wbr>name),<wbr>b",
		"":                     "",
		"___":                  "___<wbr>",
		"<b>_\u202e":           "&lt;b&gt;_<wbr>\\u202e",
	} {
		if got := string(breakable(name)); got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
}
