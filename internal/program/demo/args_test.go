package demo

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/toolfit/toolfit/internal/base/arguments"
)

func TestArgs(t *testing.T) {
	read := func(raw string) error {
		in := readArgs(json.RawMessage(raw))
		in.Choice("kind", "a", "b")
		in.TextIf("text", 3)
		in.WholeOr("n", 1, 5, 2)
		return in.done()
	}
	tests := []struct{ name, args, want string }{
		{"good arguments pass", `{"kind":"a","text":"中文字","n":5}`, ""},
		{"optional ones may be absent", `{"kind":"b"}`, ""},
		{"3.0 is an integer", `{"kind":"b","n":3.0}`, ""},
		{"absent altogether", ``, `kind: expected one of a, b, got nothing`},
		{"not an object", `[]`, `arguments: expected an object, got an array`},
		{"null is no object", `null`, `arguments: expected an object, got null`},
		{"a required one is missing", `{"n":1}`, `kind: expected one of a, b, got nothing`},
		{"not among the options", `{"kind":"c"}`, `kind: expected one of a, b, got the string "c"`},
		{"a wrong type", `{"kind":true}`, `kind: expected one of a, b, got the boolean true`},
		{"null is not absence", `{"kind":"a","text":null}`, `text: expected a string of 1 to 3 characters, got null`},
		{"too long", `{"kind":"a","text":"abcd"}`, `text: expected a string of 1 to 3 characters, got the string "abcd"`},
		{"a number in a string", `{"kind":"a","n":"3"}`, `n: expected an integer from 1 to 5, got the string "3"`},
		{"a fraction", `{"kind":"a","n":1.5}`, `n: expected an integer from 1 to 5, got the number 1.5`},
		{"out of range", `{"kind":"a","n":6}`, `n: expected an integer from 1 to 5, got the number 6`},
		{"an unknown field", `{"kind":"a","z":{}}`, `z: expected no such field, got an object; the fields are kind, text, n`},
		{"the first wrong field is told", `{"kind":1,"n":9}`, `kind: expected one of a, b, got the number 1`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := read(tt.args)
			if tt.want == "" {
				if err != nil {
					t.Fatalf("got %v", err)
				}
				return
			}
			var no arguments.Error
			if !errors.As(err, &no) || string(no) != tt.want {
				t.Fatalf("got  %v\nwant %s", err, tt.want)
			}
		})
	}
}

// FuzzShop holds that whatever JSON comes as arguments, the answer is a result.
func FuzzShop(f *testing.F) {
	f.Add("list_orders", `{"limit":3}`)
	f.Add("category_tree", `{"filter":{"name":"home","children":[{"name":"textiles"}]}}`)
	f.Add("find_customers", `{"query":"\u0000"}`)
	f.Add("get_order", `{"id":1e15}`)
	h := Shop()
	f.Fuzz(func(t *testing.T, name, args string) {
		switch name {
		case "list_orders", "get_order", "find_customers", "add_note", "category_tree":
		default:
			t.Skip()
		}
		if !json.Valid([]byte(args)) {
			t.Skip()
		}
		if a := call(t, h, name, args); a.IsError && a.text() == "" {
			t.Error("a arguments.Error without a sentence")
		}
	})
}
