package jsonschema

import (
	"strings"
	"testing"
)

func TestSchemasStandOnlyWhereKeywordsSaySo(t *testing.T) {
	n := parse(t, `{"items":{"title":"one"},"prefixItems":[{"title":"two"},true],"properties":{"title":{"title":"three"}},"dependencies":{"a":["b"],"c":{"title":"four"}},
		"additionalProperties":false,"enum":[{"title":"no"}],"default":{"title":"no"},"x":{"title":"no"},"anyOf":{"title":"no"},"$defs":[{"title":"no"}],
		"components":{"schemas":{"a":{"title":"five"}},"responses":{"title":"no"}}}`)
	var titles []string
	var visit func(*Node)
	visit = func(schema *Node) {
		if title := schema.Str("title"); title != "" {
			titles = append(titles, title)
		}
		for _, kid := range schema.Members() {
			kid.Schemas(visit)
		}
	}
	visit(n)
	if got := strings.Join(titles, " "); got != "one two three four five" {
		t.Errorf("got %s", got)
	}
	old := parse(t, `{"items":[{"title":"a"},{"title":"b"}]}`) // as older drafts write tuples
	count := 0
	old.Get("items").Schemas(func(*Node) { count++ })
	if count != 2 {
		t.Errorf("%d schemas in a tuple", count)
	}
}

func TestFits(t *testing.T) {
	for _, c := range []struct {
		keyword string
		good    bool
	}{
		{`"type":"x"`, true}, {`"type":5`, true}, // what it may be is for the readers to say
		{`"items":{}`, true}, {`"items":true`, true}, {`"items":"x"`, false},
		{`"allOf":[{}]`, true}, {`"allOf":[]`, false}, {`"allOf":{}`, false},
		{`"properties":{}`, true}, {`"properties":[]`, false},
		{`"minimum":1.5`, true}, {`"minimum":"1"`, false},
		{`"minLength":2`, true}, {`"minLength":2.0`, true}, {`"minLength":-1`, false}, {`"minLength":1.5`, false}, {`"minLength":true`, false},
		{`"title":"x"`, true}, {`"title":null`, false},
		{`"uniqueItems":false`, true}, {`"uniqueItems":"false"`, false},
		{`"required":["a"]`, true}, {`"required":"a"`, false},
		{`"dependentRequired":{"a":["b","c"]}`, true}, {`"dependentRequired":{"a":["b","b"]}`, false}, {`"dependentRequired":{"a":"b"}`, false},
		{`"x-unknown":{}`, true},
	} {
		if got := parse(t, `{`+c.keyword+`}`).Kids[0].Fits(); got != c.good {
			t.Errorf("%s: %v", c.keyword, got)
		}
	}
}

func TestDraftOf(t *testing.T) {
	for uri, want := range map[string]Draft{
		"http://json-schema.org/draft-04/schema#": Draft4, "http://json-schema.org/draft-06/schema#": Draft6, "http://json-schema.org/draft-07/schema": Draft7,
		"https://json-schema.org/draft/2019-09/schema": Draft2019, "https://json-schema.org/draft/2020-12/schema": Draft2020, "": Draft2020, "urn:own": Draft2020,
	} {
		if got := DraftOf(parse(t, `{"$schema":"`+uri+`"}`)); got != want {
			t.Errorf("%s: %d", uri, got)
		}
	}
	if !Draft7.RefAlone() || Draft2019.RefAlone() {
		t.Error("what stands beside a $ref counts from 2019-09 on")
	}
}
