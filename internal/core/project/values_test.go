package project_test

import (
	"bytes"
	"testing"

	"github.com/toolfit/toolfit/internal/core/project"
)

func TestValuesAreWhatARuleCutsAndTextsWhatAReaderSees(t *testing.T) {
	tests := []struct{ name, result, values, texts string }{
		{"structured content speaks for the text", `{"content":[{"type":"text","text":"{\"a\": 1}"}],"structuredContent":{"a":1}}`,
			`{"a":1}`, `{"a": 1}`},
		{"order does not matter", `{"structuredContent":{"a":1},"content":[{"type":"text","text":"see there"}]}`, `{"a":1}`, `see there`},
		{"texts that are JSON", `{"content":[{"type":"text","text":"[1]"},{"type":"text","text":"words"},{"type":"image","data":""},` +
			`{"type":"text","text":"{}"}]}`, `[1]|{}`, `[1]|words|{}`},
		{"JSON Lines are an array", `{"content":[{"type":"text","text":"{\"a\":1}\n{\"b\":2}"}]}`, `[{"a":1},{"b":2}]`,
			"{\"a\":1}\n{\"b\":2}"},
		{"structured content alone", `{"structuredContent":[1]}`, `[1]`, `[1]`},
		{"an error is cut by nobody", `{"content":[{"type":"text","text":"{\"a\":1}"}],"isError":true}`, ``, `{"a":1}`},
		{"no result at all", `[1,2]`, ``, `[1,2]`},
		{"an image alone", `{"content":[{"type":"image","data":"x"}]}`, ``, `{"content":[{"type":"image","data":"x"}]}`},
		{"nothing", ``, ``, ``},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := string(bytes.Join(project.Values([]byte(tt.result)), []byte("|"))); got != tt.values {
				t.Errorf("values %s, want %s", got, tt.values)
			}
			if got := string(bytes.Join(project.Texts([]byte(tt.result), 1000), []byte("|"))); got != tt.texts {
				t.Errorf("texts %s, want %s", got, tt.texts)
			}
		})
	}
}

func TestValueIsWhatAProgramReads(t *testing.T) {
	for _, c := range []struct{ name, result, want string }{
		{"structuredContent first", `{"content":[{"type":"text","text":"x"}],"structuredContent":{"a":1}}`, `{"a":1}`},
		{"null is none", `{"content":[{"type":"text","text":"x"}],"structuredContent":null}`, `"x"`},
		{"the JSON that the only text is", `{"content":[{"type":"text","text":" {\"id\":9007199254740993} \n"}]}`, `{"id":9007199254740993}`},
		{"an array too", `{"content":[{"type":"text","text":"[1]"}]}`, `[1]`},
		{"a text that is a number stays a text", `{"content":[{"type":"text","text":"12345678901234567890"}]}`, `"12345678901234567890"`},
		{"broken JSON is a text", `{"content":[{"type":"text","text":"{\"a\":"}]}`, `"{\"a\":"`},
		{"several texts are lines", `{"content":[{"type":"text","text":"{}"},{"type":"image","data":""},{"type":"text","text":"b"}]}`, `"{}\nb"`},
		{"an image has no value", `{"content":[{"type":"image","data":"aGk="}]}`, ""},
		{"nothing has none", `{"content":[]}`, ""},
		{"an empty text", `{"content":[{"type":"text","text":""}]}`, `""`},
	} {
		if got := string(project.Value([]byte(c.result))); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}
