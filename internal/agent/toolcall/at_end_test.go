package toolcall

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

func TestCallsAtTheEndAreFound(t *testing.T) {
	const call = `{"id":"1","tool_name":"a","arguments":{"x":1}}`
	for text, want := range map[string]string{
		call:                              `a{"x":1}`,
		"Let me look.\n" + call + "\n":    `a{"x":1}`,
		"So:\n```json\n" + call + "\n```": `a{"x":1}`,
		"So:\n```\n" + call + "```\n":     `a{"x":1}`,
		"{\n  \"name\": \"a\",\n  \"parameters\": {}\n}":                                                               "a{}",
		"Let me.\n<tool_call>\n{\"name\":\"a\"}\n</tool_call>\n<tool_call>{\"name\":\"b\"}</tool_call>\n":              "a b",
		"Let me.\n<function=a>\n<parameter=x>\n1\n</parameter>\n</function>\n</tool_call>":                             `a{"x":"1"}`,
		"<function_calls><invoke name=\"a\"></invoke></function_calls>":                                                "a{}",
		"<think><tool_call>{\"name\":\"a\"}</tool_call>":                                                               "",
		call + "\nWrite it like that.":                                                                                 "",
		"<tool_call>" + call + "</tool_call> is how to write it.":                                                      "",
		"So:\n```\n<tool_call>" + call + "</tool_call>\n```":                                                           "",
		"Let me.\n[read(path=\"a.txt\", lines=[1, {'x': None}], all=True,), ping()]":                                   `read{"path":"a.txt","lines":[1,{"x":null}],"all":true} ping{}`,
		"Let me.\nread(path='a(b)=c, d')":                                                                              `read{"path":"a(b)=c, d"}`,
		"read(path='a')\nread(path='b')":                                                                               `read{"path":"a"} read{"path":"b"}`,
		"So:\n```python\nfiles.read(\n    path = 'a',\n)\n```":                                                         `files.read{"path":"a"}`,
		"```tool_code\n[读取(文件=\"测试\")]\n```":                                                                           `读取{"文件":"测试"}`,
		"read('a', 5, all=False)":                                                                                      `read{"all":false}["a" 5]`,
		`[{"name":"a","arguments":{"x":1}},{"tool":"b","args":{}}]`:                                                    `a{"x":1} b{}`,
		"[\n{\"name\":\"a\",\"input\":{}},\n{\"name\":\"b\",\"params\":{}}\n]":                                         "a{} b{}",
		"{\"name\":\"a\",\"arguments\":{}}\n{\"name\":\"b\",\"arguments\":{}}":                                         "a{} b{}",
		`{'name': 'a', 'arguments': {'x': True,}}`:                                                                     `a{"x":true}`,
		`{"function":"a","args":{"x":1}}`:                                                                              `a{"x":1}`,
		`{"content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"a","arguments":"{\"x\":1}"}}]}`: `a"{\"x\":1}"`,
		"x = read(path='a')":                     "",
		"print(read(path='a'))":                  "",
		"read(path=other)":                       "",
		"read(path='a').text":                    "",
		"read(path='a') is how it is called":     "",
		"Then read(path='a')":                    "",
		"read(path='a'":                          "",
		"read(path='a', path='b')":               "",
		"read(path='a', 'b')":                    "",
		"[read(path='a')":                        "",
		"[read(path='a'), 5]":                    "",
		"read(*args)":                            "",
		"read(1 2)":                              "",
		"`read(path='a')`":                       "",
		"[1] (see above)":                        "",
		"(see above)":                            "",
		"def read(path):\n    return 1":          "",
		`[{"name":"a","arguments":{}},{"x":1}]`:  "",
		`{"name":"a","arguments":{}`:             "",
		`[]`:                                     "",
		`{"tool_calls":[]}`:                      "",
		`{"name":"a","arguments":"{\"x\": no}"}`: "",
		"Like " + call:                           "",
		`{"tool_name":"a","arguments":[]}`:       "",
		`{"name":"a"}`:                           "",
		"```json\n{\"tool_name\":\n```":          "",
		"```":                                    "",
		"``````":                                 "",
		"It ends with </tool_call>":              "",
		"":                                       "",
	} {
		var names []string
		for _, c := range AtEnd(text) {
			text := c.Tool + string(c.Args)
			if c.Positional != nil {
				text += fmt.Sprintf("%s", c.Positional)
			}
			names = append(names, text)
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
	f.Add("[read(path=\"a\", n=[1, None]), ping()]")
	f.Add("x\nread('a',\n b={'c': 1})\nping();")
	f.Add(`{"tool_calls":[{"function":{"name":"a","arguments":"{}"}},]}`)
	f.Add("{\"name\":\"\x87\",\"parameters\":{}}")
	f.Fuzz(func(t *testing.T, text string) {
		asWritten := utf8.ValidString(text) && !strings.Contains(text, `\`) // else names are decoded, or bytes in them replaced
		for _, c := range AtEnd(text) {
			if c.Tool == "" && c.Err == nil || c.Args != nil && rawjson.Check(c.Args) != nil || asWritten && !strings.Contains(text, c.Tool) {
				t.Errorf("%q: %+v", text, c)
			}
		}
	})
}
