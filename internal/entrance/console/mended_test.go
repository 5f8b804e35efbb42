package console

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/core/fit"
)

func TestEachRepairStandsAtTheLineThatItChanged(t *testing.T) {
	of := func(field string, kind fit.Kind) fit.Repair { return fit.Repair{Field: field, Kind: kind} }
	tests := []struct {
		name, sent, got string
		repairs         []fit.Repair
		want            string // lines with what stands at them
		left            int
	}{
		{"a value", `{"a":"1","b":2}`, `{"a":1,"b":2}`, []fit.Repair{of("/a", fit.NumberText)}, ` {|-  "a": "1",|+  "a": 1, number|   "b": 2| }`, 0},
		{"one in a list", `{"l":[{"n":1},{"n":"2"}]}`, `{"l":[{"n":1},{"n":2}]}`, []fit.Repair{of("/l/1/n", fit.NumberText)},
			` {|   "l": [|     {|       "n": 1|     },|     {|-      "n": "2"|+      "n": 2 number|     }|   ]| }`, 0},
		{"a value that becomes a list", `{"l":1}`, `{"l":[1]}`, []fit.Repair{of("/l", fit.Wrap)},
			` {|-  "l": 1|+  "l": [ array|+    1|+  ]| }`, 0},
		{"what is gone", `{"a":1,"x":2}`, `{"a":1}`, []fit.Repair{of("/x", fit.Drop)}, ` {|   "a": 1|-  "x": 2 dropped| }`, 0},
		{"a name with a slash", `{"a/b":"1"}`, `{"a/b":1}`, []fit.Repair{of("/a~1b", fit.NumberText)}, ` {|-  "a/b": "1"|+  "a/b": 1 number| }`, 0},
		{"all as text", `"{\"a\":1}"`, `{"a":1}`, []fit.Repair{of("", fit.JSONText)}, `-{"a":1}|+{ json|+  "a": 1|+}`, 0},
		{"no JSON", `{"a`, `{"a":1}`, nil, `-{"a|+{|+  "a": 1|+}`, 0},
		{"a repair that no line shows", `{"a":1}`, `{"a":1}`, []fit.Repair{of("/b", fit.Drop)}, ` {|   "a": 1| }`, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			lines, left := mended(json.RawMessage(tt.sent), json.RawMessage(tt.got), tt.repairs)
			var got []string
			for _, l := range lines {
				line := l.Mark + l.Text
				for _, k := range l.Why {
					line += " " + string(k)
				}
				got = append(got, line)
			}
			if strings.Join(got, "|") != tt.want || len(left) != tt.left {
				t.Errorf("got %s, %v left", strings.Join(got, "|"), left)
			}
		})
	}
}

func TestLongArgumentsAreNotComparedLineByLine(t *testing.T) {
	long := json.RawMessage("[" + strings.Repeat("1,", maxMended) + "1]")
	if lines, left := mended(long, json.RawMessage(`[]`), []fit.Repair{{Field: "/0"}}); lines != nil || len(left) != 1 {
		t.Errorf("%d lines, %d left", len(lines), len(left))
	}
}

func TestPointersNeedNoValidJSON(t *testing.T) {
	for _, text := range []string{"}", "]\n]", "{\n{\n\"", "[\n]\n]\n1", "\"a", "{\n  \"a\": [\n"} {
		lines := strings.Split(text, "\n")
		if got := pointersOf(lines); len(got) != len(lines) {
			t.Errorf("%q: %q", text, got)
		}
	}
	got := pointersOf([]string{"[", `  "x {",`, "  {},", "  [", "    1", "  ]", "]"})
	if want := []string{"", "/0", "/1", "/2", "/2/0", "/2", ""}; !slices.Equal(got, want) {
		t.Error(fmt.Sprintf("%q", got))
	}
}
