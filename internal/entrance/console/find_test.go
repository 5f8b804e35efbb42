package console

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/base/locale"
)

func TestWhatFitsBetterComesFirst(t *testing.T) {
	tests := []struct {
		word string
		best []string // names that fit, the best first; the rest does not fit
	}{
		{"list_orders", []string{"list_orders", "list_orders_of_day", "shop__list_orders", "relist_orders"}},
		{"query", []string{"query", "queryLog", "envQuery", "requery"}},
		{"slo", []string{"shop__list_orders"}},
		{"eq", []string{"cloud__envQuery"}},
		{"策略", []string{"策略", "策略规则", "调用策略"}},
		{"zz", nil},
	}
	for _, tt := range tests {
		last := 101
		for _, name := range tt.best {
			got := nearness(tt.word, name)
			if got == 0 || got > last {
				t.Errorf("%s fits %s by %d, after %d", tt.word, name, got, last)
			}
			last = got
		}
	}
	for _, one := range [][2]string{{"slo", "sales_report_long"}, {"zz", "shop__list_orders"}, {"ord", "shop__our_red"}, {"x", "shop__list"}} {
		if got := nearness(one[0], one[1]); got != 0 {
			t.Errorf("%s fits %s by %d", one[0], one[1], got)
		}
	}
}

func TestEveryWordHasToBeThere(t *testing.T) {
	one := hit{Name: "shop__list_orders", About: "Lists the orders of a customer.", also: "bestellungen"}
	for _, typed := range []string{"list orders", "ORDERS list", "orders customer", "bestell list"} {
		if one.fits(words(typed)) == 0 {
			t.Errorf("%q does not find it", typed)
		}
	}
	for _, typed := range []string{"list refunds", "orders warehouse"} {
		if one.fits(words(typed)) != 0 {
			t.Errorf("%q finds it", typed)
		}
	}
}

func TestOfWhatFitsEquallyWellTheLastUsedComesFirst(t *testing.T) {
	all := []hit{
		{Name: "orders", Kind: "tool", weight: oneTool},
		{Name: "Orders", Kind: "page", weight: onePage},
		{Name: "orders_now", Kind: "tool", weight: recent},
		{Name: "Add an order", Kind: "action", weight: oneTool},
	}
	names := func(typed string) string {
		var list []string
		for _, h := range best(all, words(typed)) {
			list = append(list, h.Name)
		}
		return strings.Join(list, ", ")
	}
	for typed, want := range map[string]string{
		"orders": "Orders, orders, orders_now",
		"order":  "orders_now, Orders, orders, Add an order",
		"":       "orders_now, Orders, Add an order", // what was used lately, the menu, what can be done
		"nobody": "",
	} {
		if got := names(typed); got != want {
			t.Errorf("%q: %s, want %s", typed, got, want)
		}
	}
}

func TestDocumentsOfErrorsAreReadInPieces(t *testing.T) {
	parts := proseOf("\nIt **ran**, see `x`.\n\n## What to do\n\n    toolfit a\n    toolfit b\n\n- one\n- `two`\n")
	if got, want := fmt.Sprint(parts), "[{p [[{ It } {b ran} { , see } {code x} { .}]]} {h2 [[{ What to do}]]} {pre [[{ toolfit a}] [{ toolfit b}]]} {ul [[{ one}] [{ } {code two} { }]]}]"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// BenchmarkFind is what a letter costs with 2,000 tools, without reading their names.
func BenchmarkFind(b *testing.B) {
	var all []hit
	for i := range 2000 {
		all = append(all, hit{Kind: "tool", Name: fmt.Sprintf("server%d__get_thing_%d", i%40, i), About: "Does the thing, with all that belongs to it, for whoever asks.", weight: oneTool})
	}
	for b.Loop() {
		best(all, words("get things belongs"))
	}
}

func TestThePaletteHasTheDocumentsForUsers(t *testing.T) {
	files, err := filepath.Glob("../../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".md")
		if !slices.Contains([]string{"README", "ARCHITECTURE", "releasing"}, name) {
			want = append(want, name)
		}
	}
	if !slices.Equal(docs, want) {
		t.Errorf("the palette has %v, docs has %v", docs, want)
	}
	for version, path := range map[string]string{"v1.2.3": "/blob/v1.2.3/docs/policy.md", "v0.0.0-2026": "/blob/main/docs/policy.md"} {
		c := &Console{Parts: Parts{Version: version}}
		hits := best(c.findDocs(&visit{lang: locale.Chinese}), words("policy"))
		if len(hits) == 0 || !strings.HasSuffix(hits[0].Path, path) {
			t.Errorf("%s: %+v", version, hits)
		}
	}
}
