package openapi_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"regexp"
	"slices"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/openapi"
	"github.com/toolfit/toolfit/internal/testkit/corpora"
	"github.com/toolfit/toolfit/schema"
)

var wholeCorpus = flag.Bool("lab", false, "check every operation of the data folder instead of a sample")

// row is one operation of the corpus: its parameters by name and its body.
type row struct {
	Doc         string `json:"doc"`
	OperationID string `json:"operationId"`
	InputSchema struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
		Components struct {
			Schemas map[string]json.RawMessage `json:"schemas"`
		} `json:"components"`
	} `json:"inputSchema"`
}

// corpus rebuilds documents from the operations of the data folder, in the order of their names.
func corpus(t *testing.T) (names []string, docs [][]byte) {
	t.Helper()
	rows := map[string][]row{}
	for _, r := range corpora.Rows[row](t, "openapi_ops_dev.jsonl") {
		if rows[r.Doc] == nil {
			names = append(names, r.Doc)
		}
		rows[r.Doc] = append(rows[r.Doc], r)
	}
	for _, name := range names {
		docs = append(docs, rebuild(t, rows[name]))
	}
	return names, docs
}

func rebuild(t *testing.T, rows []row) []byte {
	t.Helper()
	type object = map[string]any
	paths := object{}
	schemas := map[string]json.RawMessage{}
	for i, r := range rows {
		op := object{"responses": object{"200": object{"description": "ok"}}}
		if r.OperationID != "" {
			op["operationId"] = r.OperationID
		}
		var params []any
		for name, s := range r.InputSchema.Properties {
			required := slices.Contains(r.InputSchema.Required, name)
			media := object{"schema": s}
			if name == "body" {
				op["requestBody"] = object{"required": required, "content": object{"application/json": media}}
				op["responses"] = object{"200": object{"description": "ok", "content": object{"application/json": media}}}
				continue
			}
			params = append(params, object{"name": name, "in": "query", "required": required, "schema": s})
		}
		op["parameters"] = params
		paths[fmt.Sprintf("/op/%d", i)] = object{"post": op}
		for name, s := range r.InputSchema.Components.Schemas {
			schemas[name] = s
		}
	}
	raw, err := json.Marshal(object{
		"openapi": "3.1.0", "info": object{"title": "t", "version": "1"}, "paths": paths, "components": object{"schemas": schemas},
	})
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestEveryDocumentOfTheCorpusBecomesToolsThatCompile(t *testing.T) {
	names, docs := corpus(t)
	operations := 0
	for i, raw := range docs {
		for _, layout := range []openapi.Layout{openapi.Flat, openapi.Layered} {
			if layout == openapi.Layered && i%4 != 0 && !*wholeCorpus {
				continue
			}
			doc, err := openapi.Read(raw, &openapi.Options{Layout: layout, Base: testBase})
			if err != nil {
				t.Errorf("%s: %v", names[i], err)
				continue
			}
			ops, problems := doc.Operations(openapi.Filter{})
			if want := bytes.Count(raw, []byte(`"post":`)); len(ops) != want {
				t.Errorf("%s: %d of %d operations came out: %v", names[i], len(ops), want, problems)
			}
			operations += len(ops)
			for j, op := range ops {
				if sampled := (i+j)%24 == 0; sampled || *wholeCorpus {
					checkTool(t, names[i], op)
				}
			}
		}
	}
	t.Logf("%d tools of %d documents", operations, len(docs))
}

func checkTool(t *testing.T, doc string, op *openapi.Operation) {
	t.Helper()
	if _, err := tool.ParseDefinition(op.Definition); err != nil {
		t.Errorf("%s %s: %v", doc, op.Name, err)
	}
	for _, member := range []string{"inputSchema", "outputSchema"} {
		if raw := get(op.Definition, member); raw != nil {
			if _, err := compile(raw); err != nil {
				t.Errorf("%s %s: %s: %v\n%.2000s", doc, op.Name, member, err, raw)
			}
		}
	}
	if _, err := op.Request(nil); err != nil && !isFault(err) {
		t.Errorf("%s %s: %v", doc, op.Name, err)
	}
}

func TestToolsOfTheCorpusSuitEveryDialect(t *testing.T) {
	names, docs := corpus(t)
	refused := 0
	tried := 0
	for i := range docs {
		if i%20 != 0 && !*wholeCorpus {
			continue
		}
		doc, err := openapi.Read(docs[i], nil)
		if err != nil {
			t.Fatal(err)
		}
		ops, _ := doc.Operations(openapi.Filter{})
		for _, op := range ops {
			for d := range schema.Dialects() {
				tried++
				if _, err := schema.Plan(get(op.Definition, "inputSchema"), d, nil); err != nil {
					refused++
					t.Logf("%s %s for %s: %v", names[i], op.Name, d, err)
				}
			}
		}
	}
	t.Logf("%d plans, %d refused", tried, refused)
	if refused*200 > tried {
		t.Errorf("%d of %d plans were refused", refused, tried)
	}
}

// noLoader refuses every document but the one at hand.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) { return nil, errors.New("nothing is fetched: " + url) }

// anyText stands for a pattern that the engine does not know.
type anyText struct{ s string }

func (a anyText) MatchString(string) bool { return true }
func (a anyText) String() string          { return a.s }

func compile(raw []byte) (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	c.UseRegexpEngine(func(s string) (jsonschema.Regexp, error) {
		re, err := regexp.Compile(s)
		if err != nil {
			return anyText{s}, nil
		}
		return re, nil
	})
	if err := c.AddResource("mem:///tool.json", doc); err != nil {
		return nil, err
	}
	return c.Compile("mem:///tool.json")
}
