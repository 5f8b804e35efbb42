package jsonschema

import (
	"reflect"
	"slices"
	"testing"
)

func TestTokensAreEscapedAndUnescaped(t *testing.T) {
	for name, token := range map[string]string{"a": "a", "a/b": "a~1b", "~": "~0", "~1": "~01", "/~/": "~1~0~1", "": ""} {
		if got := EscapeToken(name); got != token {
			t.Errorf("%s is escaped as %s", name, got)
		}
		if got := UnescapeToken(token); got != name {
			t.Errorf("%s is read as %s", token, got)
		}
	}
	names := []string{"a/b", "", "~0", "1"}
	if pointer := Pointer(names); pointer != "/a~1b//~00/1" || !slices.Equal(Names(pointer), names) {
		t.Errorf("got %s", pointer)
	}
}

func TestReadings(t *testing.T) {
	for fragment, want := range map[string][][]string{
		"/a/b":      {{"a", "b"}},
		"/a~1b/~0":  {{"a/b", "~"}},
		"/":         {{""}},
		"/a%20b":    {{"a b"}, {"a b"}},
		"/a%2Fb/c":  {{"a", "b", "c"}, {"a/b", "c"}}, // the standard, and what is often meant
		"/a%7E1b":   {{"a/b"}, {"a/b"}},
		"/100%/%zz": {{"100%", "%zz"}, {"100%", "%zz"}}, // no escapes
	} {
		if got := Readings(fragment); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %q, want %q", fragment, got, want)
		}
	}
}

func TestLastToken(t *testing.T) {
	for ref, want := range map[string]string{"#/$defs/Pet": "Pet", "#pet": "pet", "pet.json": "pet.json", "https://x.org/a/b": "b", "#/a~1b": "a/b", "#/%E4%B8%AD": "中", "#": ""} {
		if got := LastToken(ref); got != want {
			t.Errorf("%s: got %s, want %s", ref, got, want)
		}
	}
}

func TestOnlyCanonicalNumbersAreArrayPositions(t *testing.T) {
	root, err := Parse([]byte(`{"allOf":[{"type":"string"},{"type":"number"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	x := NewIndex(root, Draft2020)
	for token, want := range map[string]string{"0": "string", "1": "number", "+1": "", "01": "", "-0": "", "2": "", "": "", "1.0": ""} {
		if got := x.Lookup(root, "#/allOf/"+token).Node.Str("type"); got != want {
			t.Errorf("position %q: got %q, want %q", token, got, want)
		}
	}
}
