package cli

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolfit/toolfit/internal/restapi"
	"github.com/toolfit/toolfit/internal/tool"
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

func FuzzTable(f *testing.F) {
	f.Add("中文", "a\nb", 1)
	f.Add("\x1b[1m", "\xff\xfe", 5)
	f.Fuzz(func(t *testing.T, a, b string, right int) {
		tab := table{right: right}
		tab.row(a, b, a)
		tab.row(b, a)
		tab.row(a + b)
		var out strings.Builder
		if err := tab.print(&out); err != nil || !utf8.ValidString(out.String()) || strings.ContainsAny(out.String(), "\x1b\r\t\x00") {
			t.Errorf("%q, %v", out.String(), err)
		}
	})
}

func TestServersSayWhatWasLeftOutOfTheirLists(t *testing.T) {
	var out strings.Builder
	c := &command{env: &Env{Out: &out}}
	err := c.printServers([]restapi.Server{{ID: "much", Kind: "http", State: "up", Tools: 20000, Notes: []string{"5 or more tools were left out\x1b[2J"}}}, map[tool.ServerID]int{"much": 20000})
	if err != nil || !strings.HasSuffix(out.String(), "\nmuch: 5 or more tools were left out\\u001b[2J\n") {
		t.Errorf("%q, %v", out.String(), err)
	}
}
