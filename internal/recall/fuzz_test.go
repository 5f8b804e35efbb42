package recall

import (
	"bytes"
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/rawjson"
)

// FuzzRequest: whatever body comes is answered with a known status and with JSON.
func FuzzRequest(f *testing.F) {
	w := newWorld(f, "listen: 0.0.0.0:80\nrecall: {trust: [192.0.2.0/24]}", nil)
	for _, seed := range []string{`{"kn_id":"k","at_id":"a","_instance_identities":[{"a":1},{}]}`, `{"unique_identity":{}}`, "{\"kn_id\":\"\xff\"}", `{"kn_id":"a","kn_id":7}`} {
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
	f.Add([]byte(`{"parameters":[{"name":"a","in":"path","schema":{"$ref":"#/components/schemas/A"}}],"components":{"schemas":{"A":{"$ref":"#/components/schemas/A"}}}}`))
	f.Add([]byte(`{"request_body":{"content":{"application/json":{"schema":{"allOf":[{"$ref":"#/components/schemas/Gone"}]}}}}}`))
	f.Add([]byte(`{"parameters":{},"request_body":[],"components":7}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		before := bytes.Clone(in)
		if rawjson.Check(in) != nil {
			return
		}
		spec, err := readSpec(in)
		if err != nil {
			return
		}
		places, err := w.layered("t", spec)
		if !bytes.Equal(in, before) {
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
