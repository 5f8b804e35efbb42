package mcp

import (
	"bytes"
	"encoding/json"
	"maps"
	"testing"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

func TestWithoutTakesOutMembersOnly(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`{"a":1,"b":2,"c":3}`, `{"b":2}`},
		{`{"b":2}`, `{"b":2}`},
		{`{"a":1}`, `{}`},
		{`{"a":1,"c":1}`, `{}`},
		{`{ "a" : 1 , "b" : 2 }`, `{ "b" : 2 }`},
		{`{"b":2.0, "a":{"b":[1]} , "d":"\u0061"}`, `{"b":2.0 , "d":"\u0061"}`},
		{`{"b":{"a":1},"a":1,"a":2}`, `{"b":{"a":1}}`},
		{`{"\u0061":1,"b":2}`, `{"b":2}`},
		{`{}`, `{}`},
		{`[1]`, `[1]`},
	} {
		if got := string(Without(json.RawMessage(c.in), "a", "c")); got != c.want {
			t.Errorf("%s became %s, want %s", c.in, got, c.want)
		}
		inPlace := json.RawMessage(c.in + "}")[:len(c.in)]
		if got := Cut(inPlace, rawjson.Span{}, "a", "c"); string(got) != c.want || string(got[:len(got)+1]) != c.want+"}" {
			t.Errorf("%s became %s in place, want %s", c.in, got, c.want)
		}
	}
}

func TestTheLongestStringIsNotReadAgain(t *testing.T) {
	const object = `{"b":["\x"],"a":1}` // no valid string: whoever reads it stops there
	if got := string(Cut(json.RawMessage(object), rawjson.Span{Start: 6, End: 10}, "a")); got != `{"b":["\x"]}` {
		t.Errorf("got %s", got)
	}
}

func FuzzMembers(f *testing.F) {
	f.Add([]byte(`{"a":1, "b":{"a":[2]},"a":3}`))
	f.Add([]byte("{ \n}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var want map[string]json.RawMessage
		if len(data) == 0 || data[0] != '{' || json.Unmarshal(data, &want) != nil {
			return
		}
		delete(want, "a")
		var got map[string]json.RawMessage
		if out := Without(data, "a"); json.Unmarshal(out, &got) != nil {
			t.Fatalf("%s became %s", data, out)
		}
		same := func(a, b json.RawMessage) bool { return string(a) == string(b) }
		var cut map[string]json.RawMessage
		if out := Cut(bytes.Clone(data), rawjson.Span{}, "a"); json.Unmarshal(out, &cut) != nil || !maps.EqualFunc(cut, want, same) {
			t.Fatalf("%s: got %s in place, want %s", data, out, want)
		}
		if !maps.EqualFunc(got, want, same) {
			t.Fatalf("%s: got %s, want %s", data, got, want)
		}
		want["new"] = json.RawMessage("1")
		got = nil
		if out := With(Without(data, "a", "new"), "new", []byte("1")); json.Unmarshal(out, &got) != nil || !maps.EqualFunc(got, want, same) {
			t.Fatalf("%s: got %s, want %s", data, out, want)
		}
	})
}

func TestResultType(t *testing.T) {
	for in, want := range map[string]string{
		`{"resultType":"complete","content":[]}`:     "complete",
		`{"content":[],"resultType":"complete"}`:     "complete",
		`{"a":1,"resultType" : "complete","b":1}`:    "complete",
		`{"resultType":"input_required"}`:            "input_required",
		`{"content":[]}`:                             "",
		`{"x":{"resultType":"complete"}}`:            "",
		`{"text":"\"resultType\":\"complete\""}`:     "",
		`{"k\",\"resultType":"complete"}`:            "",
		`{"resultType":7}`:                           "",
		`{"list":[{"a":1,"resultType":"complete"}]}`: "",
	} {
		if got := ResultType(json.RawMessage(in)); got != want {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
}

func FuzzReadMeta(f *testing.F) {
	f.Add([]byte(`{"_meta":` + goodMeta + `}`))
	f.Add([]byte(`{"_meta":null,"_meta":{}}`))
	f.Fuzz(func(t *testing.T, params []byte) {
		if !json.Valid(params) {
			return
		}
		m, err := readMeta(params)
		if err == nil && (m.Version == "" || !json.Valid(m.Capabilities)) {
			t.Fatalf("%s gave %+v", params, m)
		}
		at := FindMeta(params)
		ProgressToken(params[at.Start:at.End])
	})
}
