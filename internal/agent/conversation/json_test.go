package conversation

import (
	"encoding/json"
	"testing"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

func TestMessagesKeepTheirForm(t *testing.T) {
	for _, form := range []string{
		`{"role":"user","content":"<b> 你好"}`,
		`{"role":"user","content":""}`,
		`{"role":"user","content":[]}`,
		`{"role":"user","content":[{"type":"text","text":"x","cache_control":{}},{"type":"image_url","image_url":{"url":"data:"}}],"name":"n"}`,
		`{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"read","arguments":"{\"x\":1}"}}]}`,
		`{"role":"assistant","content":null,"refusal":"No.","reasoning_content":"hm"}`,
		`{"role":"tool","content":"3","tool_call_id":"1","toolfit":{"tool":"read","status":"success","call":"c_1","duration_ms":3}}`,
	} {
		var m Message
		if err := json.Unmarshal([]byte(form), &m); err != nil {
			t.Fatal(err)
		}
		if got := string(rawjson.Encode(m)); got != form {
			t.Errorf("got  %s\nwant %s", got, form)
		}
	}
}

func TestTextIsThatOfAllParts(t *testing.T) {
	var m Message
	if err := json.Unmarshal([]byte(`{"content":[{"type":"text","text":"a"},{"type":"image_url"},{"type":"text","text":"b"}]}`), &m); err != nil {
		t.Fatal(err)
	}
	if m.Text() != "a\nb" || m.Content.IsPlain() {
		t.Errorf("%q, %+v", m.Text(), m)
	}
}
