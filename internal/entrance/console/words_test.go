package console

import (
	"slices"
	"testing"

	"github.com/toolfit/toolfit/internal/base/locale"
	"github.com/toolfit/toolfit/internal/core/fit"
)

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

func TestEveryRepairHasAText(t *testing.T) {
	for _, kind := range append(slices.Clone(fit.Kinds), fit.Drop, fit.Fixed) {
		if text(locale.English, "repaired."+string(kind)) == "" {
			t.Errorf("there is no text for the repair %s", kind)
		}
	}
}
