package console

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
)

func TestFormAsksForWhatTheSchemaSays(t *testing.T) {
	tests := []struct {
		name, property string
		kind           fieldKind
		choices        string
	}{
		{"text", `{"type":"string"}`, fieldText, ""},
		{"a whole number", `{"type":"integer"}`, fieldNumber, ""},
		{"a number or null", `{"type":["number","null"]}`, fieldNumber, ""},
		{"two types need JSON", `{"type":["number","string"]}`, fieldJSON, ""},
		{"yes or no", `{"type":"boolean"}`, fieldChoice, "true false"},
		{"a list to choose from", `{"type":"string","enum":["a","乙",null,1.0]}`, fieldChoice, `"a" "乙" null 1.0`},
		{"one value", `{"const":{"x":1}}`, fieldChoice, `{"x":1}`},
		{"an object needs JSON", `{"type":"object","properties":{}}`, fieldJSON, ""},
		{"a reference needs JSON", `{"$ref":"#/$defs/a"}`, fieldJSON, ""},
		{"true allows everything", `true`, fieldJSON, ""},
		{"an enum that is no list", `{"type":"string","enum":5}`, fieldText, ""},
		{"a type that is none", `{"type":5}`, fieldJSON, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			fields := fieldsOf(json.RawMessage(`{"type":"object","properties":{"p":` + tt.property + `},"required":["p"]}`))
			if len(fields) != 1 || fields[0].Kind != tt.kind || strings.Join(fields[0].Choices, " ") != tt.choices || !fields[0].Required {
				t.Errorf("got %+v", fields)
			}
		})
	}
	if fields := fieldsOf(json.RawMessage(`{"type":"object"}`)); fields == nil || len(fields) != 0 {
		t.Errorf("a tool without arguments: %+v", fields)
	}
	many := ""
	for i := range 70 {
		many += fmt.Sprintf(`"a%d":{},`, i)
	}
	if fields := fieldsOf(json.RawMessage(`{"properties":{` + many + `"b":{}}}`)); fields != nil {
		t.Errorf("a form of %d fields", len(fields))
	}
}

func TestArgumentsAreWhatThePersonTyped(t *testing.T) {
	fields := fieldsOf(json.RawMessage(`{"properties":{"s":{"type":"string"},"n":{"type":"integer"},"b":{"type":"boolean"},"o":{},"甲\n":{"type":"string"}}}`))
	got := argumentsOf(fields, url.Values{"a:s": {`5`}, "a:n": {`90071992547409931`}, "a:b": {`true`}, "a:o": {`{"x": [1.0]}`},
		"a:甲\n": {`"`}, "a:zzz": {"1"}})
	if want := `{"s":"5","n":90071992547409931,"b":true,"o":{"x": [1.0]},"甲\n":"\""}`; string(got) != want {
		t.Errorf("got %s", got)
	}
	got = argumentsOf(fields, url.Values{"a:n": {"five"}, "a:o": {`{`}})
	if want := `{"n":"five","o":"{"}`; string(got) != want {
		t.Errorf("got %s", got)
	}
}

func FuzzForm(f *testing.F) {
	f.Add(`{"properties":{"a":{"type":"string","enum":["x"]}}}`, `a:a=x&a:b={`)
	f.Add(`{"properties":{"a":`, `a:a=%00`)
	f.Add(`[[[[`, ``)
	f.Fuzz(func(t *testing.T, schema, query string) {
		values, _ := url.ParseQuery(query) // what could be read is tried
		fields := fieldsOf(json.RawMessage(schema))
		for _, field := range fields {
			values.Set(field.Input, query)
		}
		if got := argumentsOf(fields, values); !json.Valid(got) {
			t.Errorf("no JSON: %s", got)
		}
	})
}

func FuzzColor(f *testing.F) {
	f.Add(`{"a": "b\"", "c": [1.0, true]}`)
	f.Add(`"</pre><script>` + "\u202e")
	f.Add("\"\xff\\")
	f.Fuzz(func(t *testing.T, text string) {
		html := string(color(text))
		for _, class := range []string{"k", "s", "v"} {
			html = strings.ReplaceAll(html, `<span class="`+class+`">`, "")
		}
		if html = strings.ReplaceAll(html, "</span>", ""); strings.ContainsAny(html, "<>\u202e") {
			t.Errorf("%q gives %q", text, html)
		}
	})
}
