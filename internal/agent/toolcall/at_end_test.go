package toolcall

import (
	"strings"
	"testing"
)

func TestCallsAtTheEndAreFound(t *testing.T) {
	const call = `{"id":"1","tool_name":"a","arguments":{"x":1}}`
	for text, want := range map[string]string{
		call:                              "a",
		"Let me look.\n" + call + "\n":    "a",
		"So:\n```json\n" + call + "\n```": "a",
		"So:\n```\n" + call + "```\n":     "a",
		"{\n  \"name\": \"a\",\n  \"parameters\": {}\n}":                                                  "a",
		"Let me.\n<tool_call>\n{\"name\":\"a\"}\n</tool_call>\n<tool_call>{\"name\":\"b\"}</tool_call>\n": "a b",
		"Let me.\n<function=a>\n<parameter=x>\n1\n</parameter>\n</function>\n</tool_call>":                "a",
		"<function_calls><invoke name=\"a\"></invoke></function_calls>":                                   "a",
		"<think><tool_call>{\"name\":\"a\"}</tool_call>":                                                  "",
		call + "\nWrite it like that.":                                                                    "",
		"<tool_call>" + call + "</tool_call> is how to write it.":                                         "",
		"So:\n```\n<tool_call>" + call + "</tool_call>\n```":                                              "",
		"Like " + call:                     "",
		`{"tool_name":"a","arguments":[]}`: "",
		`{"name":"a"}`:                     "",
		"```json\n{\"tool_name\":\n```":    "",
		"```":                              "",
		"``````":                           "",
		"It ends with </tool_call>":        "",
		"":                                 "",
	} {
		var names []string
		for _, c := range AtEnd(text) {
			names = append(names, c.Tool)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func FuzzAtEnd(f *testing.F) {
	f.Add("```json\n{\"tool_name\":\"a\",\"arguments\":{}}\n```")
	f.Add("x\n{\"name\":\"a\",\"parameters\":{}}")
	f.Add("<function=a></function>")
	f.Fuzz(func(t *testing.T, text string) {
		for _, c := range AtEnd(text) {
			if c.Tool == "" && c.Err == nil {
				t.Errorf("%q: %+v", text, c)
			}
		}
	})
}
