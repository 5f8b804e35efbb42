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
