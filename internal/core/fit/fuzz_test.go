package fit

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

func FuzzFit(f *testing.F) {
	for _, seed := range []struct{ schema, args string }{
		{typical, `{"query":"a","limit":"5","filter":"{\"year\":1,}"}`},
		{typical, `{"query":"a","tags":"['x', 'y',]","filter":"{year: 2020, 'owner_id': None} # done"}`},
		{typical, `"{'query': 'a', /* so */ 'exact': True}"`},
		{typical, "\"```json\\n{\\\"query\\\":1}\\n```\""},
		{`{"properties":{"a":{"oneOf":[{"$ref":"#"},{"type":"array","items":{"$ref":"#"}}]}},"additionalProperties":false}`,
			`{"a":[{"a":{}}],"a":1}`},
		{`{"unevaluatedProperties":false,"allOf":[{"properties":{"a":{"multipleOf":0.01}}}],"$defs":{"x":{"$anchor":"y"}}}`, `{"a":1e400}`},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","items":[true],"dependencies":{"a":["b"]}}`, "{\"a\":\"\xff\"}"},
		{`{"enum":[{"a":1.0},"X"],"default":{}}`, `{"a":10e-1}`},
	} {
		f.Add([]byte(seed.schema), []byte(seed.args))
	}
	f.Fuzz(func(t *testing.T, schema, args []byte) {
		for _, v := range []Validation{Strict, Light} {
			tool, err := Compile(schema, &Options{Validation: v})
			if err != nil {
				t.Fatal(err)
			}
			res, err := tool.Fit(t.Context(), args)
			var no *Error
			if err != nil {
				if !errors.As(err, &no) || len(no.Problems) == 0 || len(err.Error()) > 20_000 {
					t.Fatalf("%v", err)
				}
				continue
			}
			if len(res.Repairs) == 0 {
				if string(res.Args) != string(args) {
					t.Fatalf("%q became %q without a repair", args, res.Args)
				}
				continue
			}
			if rawjson.Check(res.Args) != nil {
				t.Fatalf("%q became %q", args, res.Args)
			}
			again, err := tool.Fit(t.Context(), res.Args)
			if err != nil || len(again.Repairs) > 0 || string(again.Args) != string(res.Args) {
				t.Fatalf("%s became %s, and that %s, %v", args, res.Args, again.Args, err)
			}
		}
	})
}

func FuzzTape(f *testing.F) {
	for _, s := range []string{` {"a":[1,-2.5e3,"x\"\\",null,true],"a":{}} `, `"\\\""`, `[[],{}]`, `{"\u0061":1,"a":2}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		tp := &tape{}
		if tp.read(data) != nil {
			return
		}
		var want any
		if err := json.Unmarshal(data, &want); err != nil {
			return // numbers that no float holds
		}
		tp2 := &tape{}
		if err := tp2.read(append([]byte(nil), tp.raw(0)...)); err != nil {
			t.Fatal(err)
		}
		var live func(i int32) int
		live = func(i int32) int {
			n := 1
			for c := tp.first(i); c >= 0; c = tp.after(c) {
				n += live(c)
			}
			return n
		}
		if got, n := live(0), count(want); got != n {
			t.Fatalf("%q has %d values, the tape %d", data, n, got)
		}
	})
}

func count(v any) int {
	n := 1
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			n += count(e)
		}
	case map[string]any:
		for _, e := range v {
			n += count(e)
		}
	}
	return n
}

func FuzzParseKnown(f *testing.F) {
	f.Add([]byte(`{"name":"x","tools":["a"],"rules":[{"tool":"*","in":"a[].b","aliases":[{"from":["b"],"to":"c","match":"^x"}],`+
		`"units":[{"from":["d"],"to":"e","times":0.5}],"fill":[{"to":"f","from":["c"]}],"needs":[["c"]]}]}`),
		[]byte(`{"a":[{"b":{"b":"xx","d":"4"}}],"b":"x"}`))
	f.Fuzz(func(t *testing.T, known, args []byte) {
		k, err := ParseKnown(known)
		if err != nil {
			return
		}
		server := Recognize([]*Known{k}, k.Tools)
		name, routed, _ := server.Route(k.Tools[0], args)
		tool, err := Compile([]byte(`{"type":"object","properties":{"a":{"type":"array","items":{"type":"object"}},`+
			`"c":{"type":"string"},"e":{"type":"number"}},"required":["f"]}`), &Options{Known: server.Tool(name)})
		if err != nil {
			t.Fatal(err)
		}
		if res, err := tool.Fit(t.Context(), routed); err == nil && len(res.Args) > 0 && rawjson.Check(res.Args) != nil {
			t.Fatalf("%q became %q", args, res.Args)
		}
	})
}

func FuzzOverride(f *testing.F) {
	f.Add([]byte(machine), []byte(`{"fix":{"region":"eu"},"rename":{"disk_gb":"disk"},"hide":["debug"]}`), []byte(`{"disk":"5"}`))
	f.Add([]byte(`{"$ref":"#/$defs/a","$defs":{"a":{"allOf":[{"properties":{"x":{"$ref":"#/properties/y"}}}]}}}`),
		[]byte(`{"hide":["x"]}`), []byte(`{}`))
	f.Fuzz(func(t *testing.T, schema, change, args []byte) {
		o := &Override{}
		if json.Unmarshal(change, o) != nil || rawjson.Check(schema) != nil {
			return
		}
		def := definition(t, `{}`)
		v, err := o.Apply(def, schema)
		if err != nil {
			return
		}
		if v.Definition != nil && rawjson.Check(v.Definition) != nil {
			t.Fatalf("%s", v.Definition)
		}
		tool, err := Compile(schema, &Options{Override: v})
		if err != nil {
			t.Fatal(err)
		}
		if res, err := tool.Fit(t.Context(), args); err == nil && len(res.Args) > 0 && rawjson.Check(res.Args) != nil {
			t.Fatalf("%q became %q", args, res.Args)
		}
	})
}
