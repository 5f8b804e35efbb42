package loosejson

import (
	"encoding/json"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// texts are texts of models, with what they mean.
var texts = []struct {
	name, text, want string
	doubt            Doubt
}{
	{"JSON stays", ` {"a": [1, 2.50]} `, `{"a": [1, 2.50]}`, Sure},
	{"Python's words and quotes", `{'a': True, "b": [False, None], 'c': 'it\'s "so"'}`, `{"a":true,"b":[false,null],"c":"it's \"so\""}`, Sure},
	{"Python's words in a string stay", `{'a': 'True, None'}`, `{"a":"True, None"}`, Sure},
	{"bare keys", `{a: 1, $b-c: {d_e: 2}, 名: 3}`, `{"a":1,"$b-c":{"d_e":2},"名":3}`, Sure},
	{"a comma at the end", "[1, {'a': 2,},\n]", `[1,{"a":2}]`, Sure},
	{"comments", "{ // one\n\"a\": 1, # two\n/* three, 'b': 2 */ \"c\": /**/ 3/*}*/, \"d\": true# four\n} // five", `{"a":1,"c":3,"d":true}`, Sure},
	{"signs of comments in a string", `{'a': 'http://x/#y /* z */'}`, `{"a":"http://x/#y /* z */"}`, Sure},
	{"line breaks in a string", "{\"a\": \"1\n2\"}", `{"a":"1\u000a2"}`, Sure},
	{"a backslash that is no escape", `{"a": "\d+\s"}`, `{"a":"\\d+\\s"}`, Sure},
	{"brackets too many", `{"a": 1}}]`, `{"a":1}`, Sure},
	{"numbers keep their digits", `[12345678901234567890.10,]`, `[12345678901234567890.10]`, Sure},
	{"an escape that Python has", `{"a": "C:\Users\x41"}`, `{"a":"C:\\Users\\x41"}`, Guessed},
	{"quotes of another kind", `{“a”: 1}`, `{"“a”":1}`, Guessed},
	{"a word of Python's as a key", `{None: 1}`, `{"None":1}`, Guessed},
	{"commas are missing", `[1 "b" 'c']`, `[1,"b","c"]`, Guessed},
	{"a comma is missing between members", `{"a": 1 "b": 2}`, `{"a":1,"b":2}`, Guessed},
	{"commas too many", `[1,,2]`, `[1,2]`, Guessed},
	{"a comma first", `[,1]`, `[1]`, Guessed},
	{"a comma alone", `[,]`, `[]`, Guessed},
	{"a bracket is missing inside", `{"a": [1, 2, "b": 3}`, "", 0},
	{"a bracket of an outer value", `{"a": [1, 2}`, `{"a":[1,2]}`, Guessed},
	{"the first bracket is missing", `"a": 1}`, `{"a":1}`, Guessed},
	{"the last is", `{"a": {"b": "c"`, `{"a":{"b":"c"}}`, Unclosed},
	{"behind a number", `{"a": [1`, `{"a":[1]}`, InNumber},
	{"a comment takes a member with it", "{\"a\": 1 # note, \"b\": 2}", "", 0},
	{"and inside", "[{\"a\": 1 // note, \"b\": 2}\n]", "", 0},
	{"a comment without an end", `{"a": 1} /* x`, "", 0},
	{"a quote inside a string", `{'a': 'it's', 'b': 1}`, "", 0},
	{"a quote inside a list", `['it's', 'that']`, "", 0},
	{"a string without an end", `{"a": "b}`, "", 0},
	{"a bare value", `{"a": b}`, "", 0},
	{"several values", `{"a": 1}, {"a": 2}`, "", 0},
	{"not JSON's numbers", `[1,000]`, "", 0},
	{"nor these", `[0x10]`, "", 0},
	{"nor this", `[NaN]`, "", 0},
	{"a set", `{'a', 'b'}`, "", 0},
	{"a fraction", `[1/2]`, "", 0},
	{"an ellipsis", `[1, 2, ...]`, "", 0},
	{"words", `[see below]`, "", 0},
	{"nothing", ` `, "", 0},
	{"a word", `True`, "", 0},
}

func TestReadsWhatModelsWrite(t *testing.T) {
	for _, c := range texts {
		t.Run(c.name, func(t *testing.T) {
			value, doubt, err := Read(c.text)
			if string(value) != c.want || doubt != c.doubt || (err == nil) != (c.want != "") {
				t.Errorf("%s, %d, %v", value, doubt, err)
			}
		})
	}
}

func TestFirstReadsOneValueAndLeavesTheRest(t *testing.T) {
	for text, want := range map[string]string{
		`1, b=2)`: `1|, b=2)`, `'x')`: `"x"|)`, ` None)`: `null|)`, `{'a': [1,]}) # x`: `{"a":[1]}|) # x`, `-1.5`: `-1.5|`,
		`[1 2])`: "", `{"a": 1`: "", `x)`: "", ``: "", `'x`: "", `)`: "",
	} {
		value, rest, err := First(text)
		if got := string(value) + "|" + rest; err == nil && got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, c := range texts {
		f.Add(c.text)
	}
	f.Add(`{"a":"\ud800","a":[1e400]}`)
	f.Fuzz(func(t *testing.T, text string) {
		value, doubt, err := Read(text)
		trimmed := strings.TrimSpace(text)
		if rawjson.Check([]byte(trimmed)) == nil && strings.IndexByte("{[", trimmed[0]) >= 0 && (err != nil || doubt != Sure || string(value) != trimmed) {
			t.Fatalf("%q became %q, %d, %v", text, value, doubt, err)
		}
		if first, rest, err := First(text); err == nil && (rawjson.Check(first) != nil || !strings.HasSuffix(text, rest)) {
			t.Fatalf("%q begins with %q, before %q", text, first, rest)
		}
		if err != nil {
			return
		}
		again, doubt, err := Read(string(value))
		if err != nil || doubt != Sure || string(again) != string(value) {
			t.Fatalf("%q became %q, which became %q, %v", text, value, again, err)
		}
	})
}

// FuzzStrict holds that the reader's own way through a text gives what a strict one gives.
func FuzzStrict(f *testing.F) {
	f.Add(`{"a":[1,{"b":null}],"c":"\u00e9\n"}`)
	f.Fuzz(func(t *testing.T, text string) {
		var want any
		if json.Unmarshal([]byte(text), &want) != nil {
			return
		}
		value, rest, err := First(text)
		if err != nil {
			if strings.Contains(err.Error(), "deep") {
				return
			}
			t.Fatalf("%q: %v", text, err)
		}
		var got any
		if err := json.Unmarshal(value, &got); err != nil || strings.TrimSpace(rest) != "" || !reflect.DeepEqual(got, want) {
			t.Fatalf("%q became %q, %v", text, value, err)
		}
	})
}

func TestWorkGrowsAsTheTextDoes(t *testing.T) {
	const n, times = 1 << 10, 8
	allocated := func(text string) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		Read(text)
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	for name, part := range map[string]string{
		"brackets": "[", "objects": "{a:", "commas": ",", "comments": "/**/", "open comments": "/*", "lines": "#\n", "quotes": "'", "doubled quotes": `'',`,
		"backslashes": `\`, "words": "True,", "numbers": "1 ", "keys": `{"a":1,b:2},`, "ends": "]}", "strokes": "/", "names": "a", "colons": "a:",
	} {
		for _, before := range []string{"", "[", "{", `["`, "[1] "} {
			short := before + strings.Repeat(part, n)
			long := before + strings.Repeat(part, n*times)
			if one, all := allocated(short), allocated(long); all > 4*times*one+1<<16 {
				t.Errorf("%s behind %q: the text grew %d times, the work %d times", name, before, times, all/one)
			}
		}
	}
}

func BenchmarkRead(b *testing.B) {
	text := "[" + strings.Repeat(`{'name': 'value', "flag": True, 'list': [1, 2, None,]}, `, 1000) + "]"
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, doubt, err := Read(text); err != nil || doubt != Sure {
			b.Fatal(doubt, err)
		}
	}
}

// FuzzFirstCall: what is read is JSON, and what follows is the end of the text.
func FuzzFirstCall(f *testing.F) {
	for _, s := range []string{`f(a=1, b='x')`, `f("a", b=[True, None],) or else`, `f(a=1, a=2)`, `f(a=1, 2)`, `f(a=)`, `f(`, `名(起=1)`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, rest, ok := FirstCall(text)
		if !strings.HasSuffix(text, rest) {
			t.Fatalf("%q: %q follows", text, rest)
		}
		if ok && (c.Name == "" || !json.Valid(c.Args) || c.Args[0] != '{') {
			t.Fatalf("%q: %+v", text, c)
		}
	})
}
