package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/toolfit/toolfit/internal/mcp"
)

// answered is what came of a call, taken apart for the tests.
type answered struct {
	raw        json.RawMessage
	Content    []block
	Structured json.RawMessage `json:"structuredContent"`
	IsError    bool
}

func (a answered) text() string { return a.Content[0].Text }

// call runs a tool and fails the test on an error of the protocol.
func call(t *testing.T, h mcp.Handler, name, args string) answered {
	t.Helper()
	params := `{"name":"` + name + `","arguments":` + args + `}`
	raw, err := h.Serve(t.Context(), request("tools/call", params))
	if err != nil {
		t.Fatalf("%s %s: %v", name, args, err)
	}
	a := answered{raw: raw}
	if err := json.Unmarshal(raw, &a); err != nil {
		t.Fatalf("%s %s: result is no JSON: %v", name, args, err)
	}
	if len(a.Content) != 1 || a.Content[0].Type != "text" {
		t.Fatalf("%s %s: want one text block, got %s", name, args, raw)
	}
	return a
}

func request(method, params string) *mcp.Request {
	return &mcp.Request{ID: json.RawMessage(`1`), Method: method, Params: json.RawMessage(params), Client: mcp.Deaf}
}

func servers() map[string]func() mcp.Handler {
	return map[string]func() mcp.Handler{"cloud": func() mcp.Handler { return Cloud(nil) }, "shop": Shop}
}

func TestListedDefinitions(t *testing.T) {
	want := map[string][]string{
		"cloud": {"envQuery", "queryEnv"},
		"shop":  {"list_orders", "get_order", "find_customers", "add_note", "slow_report", "fail", "export_all", "category_tree"},
	}
	for name, open := range servers() {
		t.Run(name, func(t *testing.T) {
			raw, err := open().Serve(t.Context(), request("tools/list", ""))
			if err != nil {
				t.Fatal(err)
			}
			var list struct {
				Tools []struct {
					Name, Title, Description string
					InputSchema              struct {
						Type                 string
						Properties           map[string]struct{ Description string }
						Required             []string
						AdditionalProperties *bool
					}
					OutputSchema json.RawMessage
					Annotations  struct{ ReadOnlyHint, DestructiveHint, IdempotentHint, OpenWorldHint *bool }
				}
			}
			if err := json.Unmarshal(raw, &list); err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, d := range list.Tools {
				names = append(names, d.Name)
				s, a := d.InputSchema, d.Annotations
				if d.Title == "" || len(d.Description) < 40 || d.OutputSchema != nil {
					t.Errorf("%s: want title, description and no outputSchema", d.Name)
				}
				if s.Type != "object" || s.Properties == nil || s.AdditionalProperties == nil || *s.AdditionalProperties {
					t.Errorf("%s: want a closed object schema", d.Name)
				}
				for p, schema := range s.Properties {
					if schema.Description == "" {
						t.Errorf("%s.%s: want a description", d.Name, p)
					}
				}
				for _, p := range s.Required {
					if _, ok := s.Properties[p]; !ok {
						t.Errorf("%s: required %s is no property", d.Name, p)
					}
				}
				if a.ReadOnlyHint == nil || a.DestructiveHint == nil || a.IdempotentHint == nil || a.OpenWorldHint == nil {
					t.Errorf("%s: want all four hints", d.Name)
				}
				if *a.ReadOnlyHint != (d.Name != "add_note") {
					t.Errorf("%s: readOnlyHint is wrong", d.Name)
				}
			}
			if got, want := strings.Join(names, " "), strings.Join(want[name], " "); got != want {
				t.Errorf("tools in order: got %s, want %s", got, want)
			}
		})
	}
}

func TestServe(t *testing.T) {
	tests := []struct {
		name, method, params string
		code                 int // 0: answered
		want                 string
	}{
		{"ping is answered with the empty object", "ping", "", 0, `{}`},
		{"another method is not known", "resources/list", "", mcp.CodeMethodNotFound, "resources/list"},
		{"a notification is not known either", "notifications/initialized", "", mcp.CodeMethodNotFound, "notifications"},
		{"a call without params is wrong", "tools/call", "", mcp.CodeInvalidParams, "name and arguments"},
		{"params that are no object are wrong", "tools/call", `[1]`, mcp.CodeInvalidParams, "name and arguments"},
		{"an unknown tool is an error of the protocol", "tools/call", `{"name":"nope"}`, mcp.CodeInvalidParams, `unknown tool "nope"`},
		{"asking fail for a protocol error gives one", "tools/call", `{"name":"fail","arguments":{"kind":"protocol"}}`, mcp.CodeInternal,
			"always fails"},
		{"no arguments are the empty object", "tools/call", `{"name":"category_tree"}`, 0, `electronics`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res, err := Shop().Serve(t.Context(), request(tt.method, tt.params))
			if tt.code == 0 {
				if err != nil || !strings.Contains(string(res), tt.want) {
					t.Fatalf("got %s, %v; want %s", res, err, tt.want)
				}
				return
			}
			var wire *mcp.Error
			if !errors.As(err, &wire) || wire.Code != tt.code || !strings.Contains(wire.Message, tt.want) {
				t.Fatalf("got %v, want code %d and %q", err, tt.code, tt.want)
			}
		})
	}
}

// readCalls are calls that change nothing, one or more for each tool.
func readCalls() map[string][]string {
	return map[string][]string{
		"cloud": {
			`{"name":"envQuery","arguments":{"action":"list"}}`,
			`{"name":"envQuery","arguments":{"action":"domains","envId":"x"}}`,
		},
		"shop": {
			`{"name":"list_orders","arguments":{"limit":100}}`,
			`{"name":"get_order","arguments":{"id":9007199254740993}}`,
			`{"name":"find_customers","arguments":{"query":"example"}}`,
			`{"name":"slow_report","arguments":{"seconds":0}}`,
			`{"name":"export_all","arguments":{}}`,
			`{"name":"category_tree","arguments":{}}`,
		},
	}
}

func TestSameBytesFromTwoConstructions(t *testing.T) {
	for name, open := range servers() {
		one, two := open(), open()
		reqs := []*mcp.Request{request("tools/list", "")}
		for _, params := range readCalls()[name] {
			reqs = append(reqs, request("tools/call", params))
		}
		for _, req := range reqs {
			a, errA := one.Serve(t.Context(), req)
			b, errB := two.Serve(t.Context(), req)
			if errA != nil || errB != nil || !bytes.Equal(a, b) {
				t.Errorf("%s: %s %s differs or fails: %v, %v", name, req.Method, req.Params, errA, errB)
			}
		}
	}
}

func TestTextAndStructuredContentAreTheSameValue(t *testing.T) {
	a := call(t, Cloud(nil), "envQuery", `{"action":"list"}`)
	var compact bytes.Buffer
	if err := json.Compact(&compact, []byte(a.text())); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(compact.Bytes(), a.Structured) {
		t.Error("the compacted text is not the structured content")
	}
}

func TestConcurrentCalls(t *testing.T) {
	cloud, shop := Cloud(nil), Shop()
	var group sync.WaitGroup
	serve := func(h mcp.Handler, params string) {
		group.Go(func() {
			if _, err := h.Serve(context.Background(), request("tools/call", params)); err != nil {
				t.Errorf("%s: %v", params, err)
			}
		})
	}
	for range 8 {
		serve(cloud, `{"name":"envQuery","arguments":{"action":"list"}}`)
		serve(shop, `{"name":"list_orders","arguments":{}}`)
		serve(shop, `{"name":"add_note","arguments":{"orderId":9007199254740993,"text":"hi"}}`)
		serve(shop, `{"name":"get_order","arguments":{"id":9007199254740993}}`)
	}
	group.Wait()
	got := call(t, shop, "get_order", `{"id":9007199254740993}`)
	if n := strings.Count(string(got.Structured), `"text":"hi"`); n != 8 {
		t.Errorf("8 notes were written at once, %d are there", n)
	}
}
