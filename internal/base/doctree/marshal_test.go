package doctree

import (
	"encoding/json"
	"testing"
)

func TestValuesAreWrittenAsJSON(t *testing.T) {
	for text, want := range map[string]string{
		"b: 1.0\na: [true, ~, \"1\"]\n": `{"b":1.0,"a":[true,null,"1"]}`,
		"a: []\nb: {}\nc:\n":            `{"a":[],"b":{},"c":null}`,
		"a: 12345678901234567890\n":     `{"a":12345678901234567890}`,
		"a: 0x1F\nb: .inf\nc: 2024-1\n": `{"a":"0x1F","b":".inf","c":"2024-1"}`, // not numbers of JSON
		"查: |\n  x\n  \"y\"\n":          `{"查":"x\n\"y\"\n"}`,
	} {
		doc, problems := ParseYAML([]byte(text))
		if got, err := json.Marshal(doc.Root); string(got) != want || err != nil || len(problems) > 0 {
			t.Errorf("%q: got %s, want %s; %v, %v", text, got, want, err, problems)
		}
	}
}
