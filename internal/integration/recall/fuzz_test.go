package recall

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// FuzzRequest: whatever body comes is answered with a known status and with JSON.
func FuzzRequest(f *testing.F) {
	w := newWorld(f, "listen: 0.0.0.0:80\nrecall: {trust: [192.0.2.0/24]}", nil)
	for _, seed := range []string{`{"kn_id":"k","at_id":"a","_instance_identities":[{"a":1},{}]}`, `{"unique_identity":{}}`,
		"{\"kn_id\":\"\xff\"}", `{"kn_id":"a","kn_id":7}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		r := httptest.NewRequest("POST", private+"/kn/get_action_info", bytes.NewReader(body))
		r.Host = "agent-retrieval"
		res := httptest.NewRecorder()
		w.ServeHTTP(res, r)
		if res.Code != 400 && res.Code != 404 || !json.Valid(res.Body.Bytes()) {
			t.Errorf("%q: %d %s", body, res.Code, res.Body)
		}
	})
}

// FuzzSpec: whatever an api_spec holds, the answer has no reference, and the spec stays.
func FuzzSpec(f *testing.F) {
	w := newWorld(f, "recall: {}", nil)
	f.Add([]byte(`{"parameters":[{"name":"a","in":"path","schema":{"$ref":"#/components/schemas/A"}}],` +
		`"components":{"schemas":{"A":{"$ref":"#/components/schemas/A"}}}}`))
	f.Add([]byte(`{"request_body":{"content":{"application/json":{"schema":{"allOf":[{"$ref":"#/components/schemas/Gone"}]}}}}}`))
	f.Add([]byte(`{"parameters":{},"request_body":[],"components":7}`))
	f.Add([]byte(`{"parameters":[{"$ref":"#/components/parameters/P"}],"request_body":{"$ref":"#/request_body"},` +
		`"components":{"parameters":{"P":{"name":"p","in":"query","schema":{"type":["integer","null"]}}}}}`))
	f.Add([]byte(`{"request_body":{"content":{"*/*":{"schema":{"allOf":[{"$ref":"#/components/schemas/a/b"},` +
		`{"properties":{"x":{"allOf":[true]}}}]}}}},"responses":[{"status_code":201,` +
		`"content":{"application/json":{"schema":{"$ref":"#n"}}}}],"components":{"schemas":{"a/b":{"$anchor":"n","required":["y"],` +
		`"properties":{"x":false}}}}}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		before := bytes.Clone(in)
		if rawjson.Check(in) != nil {
			return
		}
		spec, err := readSpec(in)
		if err != nil || spec.root == nil {
			return
		}
		was := spec.root.Raw()
		places, err := w.layered("t", spec)
		if output := w.output("t", spec); hasReference(output) {
			t.Errorf("%s answers %s", in, output)
		}
		if !bytes.Equal(in, before) || !bytes.Equal(spec.root.Raw(), was) {
			t.Error("the spec was changed")
		}
		if err != nil {
			return
		}
		out, err := json.Marshal(places)
		if err != nil {
			t.Fatal(err)
		}
		if hasReference([]byte(`{"properties":` + string(out) + `}`)) {
			t.Errorf("%s gives %s", in, out)
		}
	})
}

// FuzzSealed: what was not sealed here does not open, and what was comes back.
func FuzzSealed(f *testing.F) {
	s, err := newSealer([]byte("k"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add("m", "t", []byte(`{"a":1}`), "AAAA")
	f.Fuzz(func(t *testing.T, server, name string, fixed []byte, text string) {
		if got, ok := s.open(scope(server, name), text); ok {
			t.Errorf("%q opens to %q", text, got)
		}
		sealed, ok := s.close(scope(server, name), fixed)
		if !ok || rawjson.Check(fixed) != nil {
			return
		}
		if got, ok := s.open(scope(server, name), sealed); !ok || !bytes.Equal(got, fixed) {
			t.Errorf("%q comes back as %q", fixed, got)
		}
		if _, ok := s.open(scope(server+"x", name), sealed); ok {
			t.Error("it opens for another server")
		}
	})
}

// FuzzMerge: fixed parameters win, all others stay.
func FuzzMerge(f *testing.F) {
	f.Add([]byte(`{"a":1,"b":[2],"a":3}`), []byte(`{"a":{}}`))
	f.Fuzz(func(t *testing.T, args, fixed []byte) {
		for _, in := range [][]byte{args, fixed} {
			if rawjson.Check(in) != nil || kindOf(in) != "object" {
				return
			}
		}
		out := merge(args, fixed)
		if err := rawjson.Check(out); err != nil {
			t.Fatalf("%s and %s give %s: %v", args, fixed, out, err)
		}
		for name := range keys(fixed) {
			if !strings.Contains(string(out), string(rawjson.Get(fixed, name))) {
				t.Errorf("%s and %s give %s", args, fixed, out)
			}
		}
		if got, want := len(keys(out)), len(keys(args)); got < want {
			t.Errorf("%s and %s give %s", args, fixed, out)
		}
	})
}

// FuzzServices: whatever the other services answer, the caller gets JSON and a known status,
// and its parameters hold no reference.
func FuzzServices(f *testing.F) {
	for _, seed := range [][2]string{
		{`{"action_source":{"type":"mcp","mcp_id":"m","tool_name":"t"},"actions":[{"parameters":{"a":1}}]}`,
			`{"tools":[{"name":"t","inputSchema":{"properties":{"a":{"$ref":"#"}}}}]}`},
		{`{"action_source":{"type":"tool","box_id":"b","tool_id":"t"},"actions":[{}]}`,
			`{"name":"t","metadata":{"api_spec":{"parameters":[{"name":"a","in":"path"}]}}}`},
		{`{"action_source":{"type":"tool","box_id":"b","tool_id":"t"},"actions":[{"parameters":{"x-a":1}}]}`,
			`{"metadata":{"api_spec":{"request_body":{"content":{"a/json":{"schema":{"oneOf":[{}]}}}}}}}`},
		{`{"action_source":{"type":7},"actions":null}`, "\xff"},
	} {
		f.Add([]byte(seed[0]), []byte(seed[1]), false)
		f.Add([]byte(seed[0]), []byte(seed[1]), true)
	}
	worlds := map[bool]*world{false: newWorld(f, bothServices, nil), true: newWorld(f, bothServices+"  answer: driver\n", nil)}
	f.Fuzz(func(t *testing.T, query, operator []byte, driver bool) {
		w := worlds[driver]
		clear(w.remote.lists)
		w.remote.bytes = 0
		client := &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
			body := operator
			if r.URL.Port() == "13018" {
				body = query
			}
			return &http.Response{StatusCode: 200, Body: io.NopCloser(bytes.NewReader(body))}, nil
		})}
		w.query.client = client
		w.remote.client = client
		r := httptest.NewRequest("POST", private+"/kn/get_action_info", strings.NewReader(`{"kn_id":"k","at_id":"a"}`))
		r.Host = "agent-retrieval"
		res := httptest.NewRecorder()
		w.ServeHTTP(res, r)
		var answer struct {
			Tools []struct{ Parameters json.RawMessage } `json:"_dynamic_tools"`
		}
		if err := json.Unmarshal(res.Body.Bytes(), &answer); err != nil {
			t.Fatalf("%d %s: %v", res.Code, res.Body, err)
		}
		switch res.Code {
		case 200, 400, 404, 500, 502:
		default:
			t.Errorf("%d %s", res.Code, res.Body)
		}
		for _, tool := range answer.Tools {
			if hasReference(tool.Parameters) {
				t.Errorf("a reference is left: %s", tool.Parameters)
			}
		}
	})
}

// FuzzAlias: what is put in leaves JSON, and both names say the same where one was there.
func FuzzAlias(f *testing.F) {
	f.Add([]byte(`{"content":[],"isError":true}`))
	f.Add([]byte(` { "is_error" : false , "a":{"isError":1}}`))
	f.Add([]byte(`{"isError":1,"is_error":2,"isError":3}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		if rawjson.Check(in) != nil || kindOf(in) != "object" {
			return
		}
		out := rawjson.AppendSplice(nil, in, alias(in))
		if err := rawjson.Check(out); err != nil {
			t.Fatalf("%s becomes %s: %v", in, out, err)
		}
		was := keys(in)
		if !was["isError"] && !was["is_error"] || was["isError"] && was["is_error"] {
			if !bytes.Equal(in, out) {
				t.Errorf("%s becomes %s", in, out)
			}
		}
	})
}

// FuzzWithout: the names are gone, and what is left is JSON.
func FuzzWithout(f *testing.F) {
	f.Add([]byte(`{"type":"object","properties":{"a":{},"b":{"type":"string"}},"required":["a","b"]}`), "a")
	f.Add([]byte(`{"required":["a"],"properties":[1]}`), "a")
	f.Add([]byte(`{"allOf":[],"anyOf":[true,{"properties":{"a":{},"b":{}},"required":["a"]}],"oneOf":7}`), "a")
	f.Fuzz(func(t *testing.T, in []byte, name string) {
		if rawjson.Check(in) != nil || kindOf(in) != "object" {
			return
		}
		out := without(in, map[string]bool{name: true})
		if err := rawjson.Check(out); err != nil {
			t.Fatalf("%s becomes %s: %v", in, out, err)
		}
		parts := []json.RawMessage{out}
		for _, union := range unions {
			for p := rawjson.Array(rawjson.Get(out, union)); p.Next(); {
				parts = append(parts, p.Value)
			}
		}
		for _, part := range parts {
			if keys(rawjson.Get(part, "properties"))[name] {
				t.Errorf("%s becomes %s", in, out)
			}
		}
	})
}
