package catalog

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/project"
)

func TestTheOutputSchemaIsThatOfWhatIsSent(t *testing.T) {
	rules, problems := project.Compile([]project.Rule{
		{ID: "kept", Tool: "s__kept", Keep: "items(id)"},
		{ID: "made", Tool: "s__made", JQ: ".items"},
		{ID: "shadow", Tool: "s__shadow", Keep: "items(id)", Mode: project.Shadow},
	})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	const (
		promised = `{"type":"object","properties":{"items":{"type":"array","items":{"type":"object","properties":{"id":{},"big":{}},"required":["id","big"]}}}}`
		sent     = `{"type":"object","properties":{"items":{"type":"array","items":{"type":"object","properties":{"id":{}},"required":["id"]}},"_omitted":{"type":"object","description":"What was left out of this result, and the ref to fetch it with."}}}`
	)
	for _, c := range []struct {
		name, tool string
		paging     bool
		want       string // "": there is none
	}{
		{"a mask", "s__kept", false, sent},
		{"a program may make anything", "s__made", false, ""},
		{"what is only counted", "s__shadow", false, promised},
		{"no rule", "s__other", false, promised},
		{"a caller may ask for anything", "s__other", true, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := &View{content: content{paging: c.paging, Results: Results{Rules: rules}}}
			def := v.promised(&Entry{Name: tool.Name(c.tool)}, []byte(`{"name":"t","outputSchema":`+promised+`,"inputSchema":{}}`))
			var read struct{ OutputSchema json.RawMessage }
			if err := json.Unmarshal(def, &read); err != nil {
				t.Fatal(err)
			}
			if string(read.OutputSchema) != c.want || bytes.Count(def, []byte("outputSchema")) > 1 {
				t.Errorf("got  %s\nwant %s", def, c.want)
			}
		})
	}
}

func TestPagingIsForEveryToolWhoseArgumentsHaveNames(t *testing.T) {
	const added = `"_fields":{"type":"string"`
	for _, c := range []struct {
		name, schema, begin string
		paged               bool
	}{
		{"some arguments", `{"type":"object","properties":{"a":{}},"required":["a"]}`, `{"type":"object","properties":{"a":{},` + added, true},
		{"no arguments", `{"type":"object","properties":{ }}`, `{"type":"object","properties":{ ` + added, true},
		{"no properties", `{"type":"object","additionalProperties":false}`, `{"type":"object","properties":{` + added, true},
		{"an argument of that name", `{"type":"object","properties":{"_limit":{}}}`, `{"type":"object","properties":{"_limit":{}}}`, false},
		{"names that stand elsewhere", `{"type":"object","allOf":[{}]}`, `{"type":"object","allOf":[{}]}`, false},
		{"properties that are none", `{"type":"object","properties":true}`, `{"type":"object","properties":true}`, false},
		{"anything", `{}`, `{}`, false},
	} {
		got, paged := withPaging([]byte(c.schema))
		if paged != c.paged || !bytes.HasPrefix(got, []byte(c.begin)) || !json.Valid(got) {
			t.Errorf("%s: %v, %s", c.name, paged, got)
		}
	}
}
