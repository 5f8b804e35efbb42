package toon

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestEveryFormIsWrittenAsTheNotationSays(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"scalar", `"a b"`, `a b`},
		{"object", `{"id":123,"name":"Ada","active":true,"x":null}`, "id: 123\nname: Ada\nactive: true\nx: null"},
		{"object in object", `{"user":{"id":1,"tags":{}}}`, "user:\n  id: 1\n  tags:"},
		{"empty object", `{}`, ""},
		{"empty array", `{"a":[]}`, "a[0]:"},
		{"array of scalars", `{"tags":["a","b c",3,null]}`, "tags[4]: a,b c,3,null"},
		{"table", `{"items":[{"sku":"A1","qty":2},{"qty":1,"sku":"B,2"}]}`, "items[2]{sku,qty}:\n  A1,2\n  \"B,2\",1"},
		{"unlike objects", `{"items":[{"id":1},{"id":2,"n":"x"}]}`, "items[2]:\n  - id: 1\n  - id: 2\n    n: x"},
		{"mixed", `{"a":[1,{"b":1},"t",[1,2],{}]}`, "a[5]:\n  - 1\n  - b: 1\n  - t\n  - [2]: 1,2\n  -"},
		{"array of arrays", `{"m":[[1,2],[]]}`, "m[2]:\n  - [2]: 1,2\n  - [0]:"},
		{"table behind a dash", `{"a":[{"users":[{"id":1},{"id":2}],"s":"x"}]}`, "a[1]:\n  - users[2]{id}:\n      1\n      2\n    s: x"},
		{"root array", `["x","y"]`, "[2]: x,y"},
		{"root table", `[{"id":1},{"id":2}]`, "[2]{id}:\n  1\n  2"},
		{"a name twice makes no table", `[{"a":1,"a":2}]`, "[1]:\n  - a: 1\n    a: 2"},
		{"quoted where needed", `["","true","-x","05","1.5"," a","a:b","a\"b","[x]","1e9","v1"]`,
			`[11]: "","true","-x","05","1.5"," a","a:b","a\"b","[x]","1e9",v1`},
		{"escapes", `{"t":"a\nb\t\\"}`, `t: "a\nb\t\\"`},
		{"names", `{"a.b":1,"a-b":1,"1a":1,"":1,"名":1}`, "a.b: 1\n\"a-b\": 1\n\"1a\": 1\n\"\": 1\n\"名\": 1"},
		{"numbers", `[1.50,1e3,1E-2,-0,-0.0,12345678901234567890,1.0,2.5e-3]`, "[8]: 1.5,1000,0.01,0,0,12345678901234567890,1,0.0025"},
		{"an absurd exponent stays", `[1e999999]`, "[1]: 1e999999"},
		{"Chinese", `{"city":"上海"}`, "city: 上海"},
		{"blanks around", " {\"a\" : 1 } ", "a: 1"},
	}
	for _, tt := range tests {
		got, err := Encode([]byte(tt.in))
		if err != nil || string(got) != tt.want {
			t.Errorf("%s: got\n%s\nwant\n%s\n%v", tt.name, got, tt.want, err)
		}
	}
}

func TestWhatIsNoJSONIsRefused(t *testing.T) {
	for _, in := range []string{"", "{", "{} {}", strings.Repeat("[", 600) + strings.Repeat("]", 600)} {
		if out, err := Encode([]byte(in)); err == nil {
			t.Errorf("%.20q gives %q", in, out)
		}
	}
}

func FuzzEncode(f *testing.F) {
	f.Add([]byte(`{"a":[{"b":[{"c":1}]},[[]],{}],"d":"\ud800"}`))
	f.Add([]byte("[\"\xff\",-1.5e-7]"))
	f.Fuzz(func(t *testing.T, in []byte) {
		out, err := Encode(in)
		if err == nil && utf8.Valid(in) && !utf8.Valid(out) {
			t.Errorf("%q gives invalid UTF-8: %q", in, out)
		}
	})
}
