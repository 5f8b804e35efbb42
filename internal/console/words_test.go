package console

import "testing"

func TestToolNamesGoOnInTheNextLineAfterAnUnderscore(t *testing.T) {
	for name, want := range map[string]string{
		"shop__find_customers": "shop__<wbr>find_<wbr>customers",
		"":                     "",
		"___":                  "___<wbr>",
		"<b>_\u202e":           "&lt;b&gt;_<wbr>\\u202e",
	} {
		if got := string(toolName(name)); got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
}
