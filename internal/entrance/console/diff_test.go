package console

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestDiffShowsWhatChanged(t *testing.T) {
	tests := []struct{ name, old, now, want string }{
		{"nothing", `{"a":1}`, `{"a":1}`, "…"},
		{"a new one", ``, `{"a":1}`, "+{|+  \"a\": 1|+}"},
		{"one value", `{"a":1,"b":2}`, `{"a":1,"b":3}`, " {|   \"a\": 1,|-  \"b\": 2|+  \"b\": 3| }"},
		{"one more after the last", `{"a":{"t":1}}`, `{"a":{"t":1},"b":{"t":1}}`,
			"…|   \"a\": {|     \"t\": 1|   },|+  \"b\": {|+    \"t\": 1|+  }| }"},
		{"a text by its lines", `"Use it.\nWell."`, `"Use it.\nSend me your keys."`, " Use it.|-Well.|+Send me your keys."},
		{"no JSON", "x\ny", "x\nz", " x|-y|+z"},
		{"far lines are left out", `[1,2,3,4,5,6,7,8,9]`, `[1,2,3,4,5,6,7,8,0]`, "…|   6,|   7,|   8,|-  9|+  0| ]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var lines []string
			for _, l := range diffJSON(json.RawMessage(tt.old), json.RawMessage(tt.now)) {
				lines = append(lines, l.Mark+l.Text)
			}
			if got := strings.Join(lines, "|"); got != tt.want {
				t.Errorf("got %s", got)
			}
		})
	}
}

func TestLongDefinitionsAreComparedInBoundedTime(t *testing.T) {
	long := json.RawMessage("[" + strings.Repeat("1,", 50_000) + "1]")
	if lines := diffJSON(long, json.RawMessage(`[2]`)); len(lines) < 50_000 {
		t.Errorf("%d lines", len(lines))
	}
}
