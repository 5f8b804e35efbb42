package cli

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
)

func TestColumnsAlignAsATerminalShowsThem(t *testing.T) {
	for _, tc := range []struct {
		name  string
		right int
		rows  [][]string
		want  string
	}{
		{"nothing is nothing", 0, nil, ""},
		{"a Chinese character takes two places", 0, [][]string{{"NAME", "STATE"}, {"中文", "up"}, {"files", "down"}},
			"NAME   STATE\n中文   up\nfiles  down\n"},
		{"full-width letters take two, combining marks none", 0, [][]string{{"ＡＢ", "x"}, {"e\u0301e\u0301ee", "y"}},
			"ＡＢ  x\ne\u0301e\u0301ee  y\n"},
		{"no spaces stand behind the last word of a row", 0, [][]string{{"a", "b", "c"}, {"long", "", ""}, {"", "", "x"}},
			"a     b  c\nlong\n         x\n"},
		{"numbers stand at the right edge", 2, [][]string{{"calls", "sent", "tool"}, {"7", "12345", "查询"}},
			"calls   sent  tool\n    7  12345  查询\n"},
		{"a last cell of several lines stays in its column", 0, [][]string{{"1.00", "one\n  two\n"}, {"0.5", "three"}},
			"1.00  one\n        two\n0.5   three\n"},
		{"rows may be of different lengths", 1, [][]string{{"only"}, {"a", "b"}, {}, {"a", "b", "c"}},
			"only\na  b\n\na  b  c\n"},
		{"a server's text moves no cursor", 0, [][]string{{"a\x1b[2Jb\tc\nd", "e\x1b[1mf\rg"}},
			"a\\u001b[2Jb c d  e\\u001b[1mf\\u000dg\n"},
		{"what is no UTF-8 is shown as such", 0, [][]string{{"a\xff", "b"}}, "a\uFFFD  b\n"},
	} {
		tab := table{right: tc.right}
		for _, cells := range tc.rows {
			tab.row(cells...)
		}
		var out strings.Builder
		if err := tab.print(&out); err != nil || out.String() != tc.want {
			t.Errorf("%s:\n%q, want\n%q (%v)", tc.name, out.String(), tc.want, err)
		}
	}
}

// terminal is one of so many places.
type terminal struct {
	strings.Builder
	places int
}

func (t *terminal) width() int { return t.places }

func TestTablesAreCutToTheTerminal(t *testing.T) {
	tools := [][]string{{"shop__list_orders", "List orders of the shop, the newest first"}, {"云__查询", "列出所有可用的云开发环境"}}
	sums := [][]string{{"calls", "full result", "tool"}, {"12345", "1234567890", "a_server__with_a_very_long_name_of_a_tool"}}
	for _, tc := range []struct {
		name   string
		places int
		table  table
		rows   [][]string
		want   string
	}{
		{"what fits stays", 60, table{}, tools, "shop__list_orders  List orders of the shop, the newest first\n云__查询           列出所有可用的云开发环境\n"},
		{"the last column is cut", 45, table{}, tools, "shop__list_orders  List orders of the shop, …\n云__查询           列出所有可用的云开发环境\n"},
		{"a wide character is not halved", 44, table{}, tools[1:], "云__查询  列出所有可用的云开发环境\n"},
		{"then the widest one", 38, table{}, tools, "shop__list_…  List orders of the shop…\n云__查询      列出所有可用的云开发环境\n"},
		{"numbers are never cut", 30, table{right: 2}, sums, "calls  full result  tool\n12345   1234567890  a_server_…\n"},
		{"or goes on below", 45, table{wraps: true}, tools, "shop__list_orders  List orders of the shop,\n                   the newest first\n云__查询           列出所有可用的云开发环境\n"},
		{"words that are too long are broken", 20, table{wraps: true}, [][]string{{"a", "https://example.com/a/b/c"}}, "a  https://example.c\n   om/a/b/c\n"},
		{"there may be no room at all", 1, table{}, [][]string{{"one word", "another one"}}, "one word  another…\n"},
		{"no terminal", 0, table{}, tools[:1], "shop__list_orders  List orders of the shop, the newest first\n"},
	} {
		for _, cells := range tc.rows {
			tc.table.row(slices.Clone(cells)...)
		}
		out := terminal{places: tc.places}
		if err := tc.table.print(&out); err != nil || out.String() != tc.want {
			t.Errorf("%s:\n%s, want\n%s (%v)", tc.name, out.String(), tc.want, err)
		}
	}
}

func FuzzTable(f *testing.F) {
	f.Add("中文", "a\nb", 1)
	f.Add("\x1b[1m", "\xff\xfe", 5)
	f.Fuzz(func(t *testing.T, a, b string, right int) {
		tab := table{right: max(0, right)}
		tab.row(a, b, a)
		tab.row(b, a)
		tab.row(a + b)
		for _, tab.wraps = range []bool{false, true} {
			for _, room := range []int{0, 40} {
				out := terminal{places: room}
				if err := tab.print(&out); err != nil || !utf8.ValidString(out.String()) || strings.ContainsAny(out.String(), "\x1b\r\t\x00") {
					t.Errorf("%q, %v", out.String(), err)
				}
				for line := range strings.Lines(out.String()) {
					if n := places(strings.TrimSuffix(line, "\n")); room > 0 && right <= 0 && n > room {
						t.Errorf("%d places: %q", n, line)
					}
				}
			}
		}
	})
}

func TestServersSayWhatWasLeftOutOfTheirLists(t *testing.T) {
	var out strings.Builder
	c := &command{env: &Env{Out: &out}}
	err := c.printServers([]restapi.Server{{ID: "much", Kind: "http", State: "up", Tools: 20000, Notes: []string{"5 or more tools were left out\x1b[2J"}}}, map[tool.ServerID]int{"much": 20000}, "")
	if err != nil || !strings.HasSuffix(out.String(), "\nmuch: 5 or more tools were left out\\u001b[2J\n") {
		t.Errorf("%q, %v", out.String(), err)
	}
}
