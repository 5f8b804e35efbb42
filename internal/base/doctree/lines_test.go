package doctree

import (
	"fmt"
	"strings"
	"testing"
)

func TestAnEntryIsShownWithItsLines(t *testing.T) {
	tests := []struct {
		name, text string
		json       bool
		want       string
	}{
		{"blocks", "# mine\nservers:\n  a: # the first\n    command: npx\n\n    args:\n      - -y # why\n      - 'a b'\n    env: {A: '1'}\n", false,
			"3 a:|4   command: npx|6   args:|7     - -y|8     - \"a b\"|9   env: {A: \"1\"}"},
		{"one line", "servers:\n  a: {command: npx, args: [x]}\n", false, "2 a: {command: npx, args: [x]}"},
		{"braces over several lines", "servers:\n  a: {\n    command: npx,\n    url: x\n  }\n", false, "2 a: {|3   command: npx,|4   url: x|5 }"},
		{"JSON", "{\"servers\": {\n  // mine\n  \"a\": {\n    \"command\": \"npx\",\n    \"args\": [\n      \"-y\",\n      \"b\"\n    ],\n    \"env\": {}\n  }\n}}\n", true,
			`3 "a": {|4   "command": "npx",|5   "args": [|6     "-y",|7     "b"|8   ],|9   "env": {}|10 }`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			read := ParseYAML
			if tt.json {
				read = ParseJSON
			}
			src, found := read([]byte(tt.text))
			if len(found) > 0 {
				t.Fatal(found)
			}
			var got []string
			for _, line := range src.Lines(src.Root.Find("servers").Entries[0]) {
				got = append(got, fmt.Sprint(line.Number, " ", line.Text))
			}
			if strings.Join(got, "|") != tt.want {
				t.Errorf("got  %s\nwant %s", strings.Join(got, "|"), tt.want)
			}
		})
	}
}
