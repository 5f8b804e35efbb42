package console

import (
	"encoding/json"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/shell"
	"github.com/toolfit/toolfit/internal/core/fit"
	"github.com/toolfit/toolfit/internal/state/config"
)

// sameValue tells whether two texts are the same JSON, digit by digit.
func sameValue(t *testing.T, a, b string) bool {
	t.Helper()
	var values [2]any
	for i, text := range []string{a, b} {
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		if err := d.Decode(&values[i]); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	return reflect.DeepEqual(values[0], values[1])
}

// FuzzLines holds that the same call elsewhere has the same arguments.
func FuzzLines(f *testing.F) {
	f.Add("a b", `{"a":"1","b c":-0.0e1,"d=":null,"e":[true,{"__proto__":"\u200b'"}]}`)
	f.Add("-x", `{"a:":"é\/","b":"@x","~":"$HOME"}`)
	f.Fuzz(func(t *testing.T, name, args string) {
		if rawjson.Check([]byte(args)) != nil || strings.TrimLeft(args, " \t\r\n")[0] != '{' || !utf8.ValidString(args+name) {
			return
		}
		e := elsewhere{base: "http://h", tool: name, query: url.Values{}}
		for _, l := range e.lines(json.RawMessage(args)) {
			if l.Kind != "curl" && l.Kind != "cli" || len(args) > maxLine/2 {
				continue
			}
			words, err := shell.Split(l.Text)
			if err != nil {
				t.Fatalf("%s cannot be read: %v", l.Text, err)
			}
			if last := words[len(words)-1]; l.Kind == "curl" && !sameValue(t, last, args) {
				t.Errorf("%s became %s", args, last)
			}
		}
		if got := eachToken([]byte(args), func(token string) string { return token }); !sameValue(t, got, args) {
			t.Errorf("%s became %s", args, got)
		}
	})
}

// FuzzMended holds that no arguments are too odd to be compared, and that no repair is lost.
func FuzzMended(f *testing.F) {
	f.Add(`{"a":["1"]}`, `{"a":[1]}`, "/a/0")
	f.Add("\"{\n\"", "]\n{", "")
	f.Fuzz(func(t *testing.T, sent, got, field string) {
		lines, left := mended(json.RawMessage(sent), json.RawMessage(got), []fit.Repair{{Field: field, Kind: fit.Wrap}})
		n := len(left)
		for _, l := range lines {
			n += len(l.Why)
		}
		if n != 1 {
			t.Errorf("%d repairs of one", n)
		}
	})
}

// FuzzServerForm holds that a server whose form is sent as it was shown stays what it was.
func FuzzServerForm(f *testing.F) {
	f.Add("npx", "-y 'a", "TOKEN", "${X}=b", "")
	f.Add("", "", "X-Key", "a: b", "https://h/mcp")
	f.Add("npx", "", " A", "c", "")
	f.Fuzz(func(t *testing.T, command, arg, name, value, address string) {
		if !utf8.ValidString(command+arg+name+value+address) || address != strings.TrimSpace(address) {
			return
		}
		s := config.Server{ID: "a", Command: command, Args: []string{arg}, Env: map[string]string{name: value}}
		if address != "" {
			s = config.Server{ID: "a", URL: address, Headers: map[string]string{name: value}}
		}
		text, err := s.Text()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := config.ParseServer("", text, nil); err != nil {
			return // there is no such server
		}
		sent := readConfig(text).fields("a")
		for key, values := range sent {
			sent[key] = []string{strings.ReplaceAll(values[0], "\n", "\r\n")} // as browsers send it
		}
		back, err := serverOf(sent.Get)
		if err != nil || !sameValue(t, string(back), string(text)) {
			t.Errorf("%s came back as %s, %v", text, back, err)
		}
	})
}
