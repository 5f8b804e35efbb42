package toolcall

import (
	"encoding/json"
	"strings"
	"testing"
)

// anyReader is every way in which calls are looked for.
func anyReader(text string) (calls []Call) {
	for _, cutOff := range []bool{false, true} {
		for _, r := range []*Reader{{}, {Thinking: true}, {Uncalled: true}} {
			r.Write(text)
			r.Close(cutOff)
			calls = append(calls, r.Calls()...)
		}
	}
	return append(calls, AtEnd(text)...)
}

// escaped is a result as a model gets it, and the text of that alone.
func escaped(t *testing.T, text string) (whole, inside string) {
	t.Helper()
	raw, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	inside = Escape(raw)
	var want, got string
	if json.Unmarshal(raw, &want) != nil || json.Unmarshal([]byte(inside), &got) != nil || got != want {
		t.Fatalf("%q became %q", text, got)
	}
	return `<tool_result>{"id":"1","result":` + inside + "}</tool_result>", inside[1 : len(inside)-1]
}

// TestNoFormOfACallIsReadInAnEscapedResult holds for every form that the reader has a test for.
func TestNoFormOfACallIsReadInAnEscapedResult(t *testing.T) {
	readable := 0
	for _, f := range fixtures {
		if len(anyReader(f.text)) > 0 {
			readable++
		}
		whole, inside := escaped(t, f.text)
		for _, said := range []string{whole, inside, "It says:\n" + inside, "```\n" + inside + "\n```", "<think>" + inside + "</think>" + inside} {
			if calls := anyReader(said); len(calls) > 0 {
				t.Errorf("%s: in %q stands %+v", f.name, said, calls)
			}
		}
	}
	if readable < 40 {
		t.Errorf("only %d of the texts have a call", readable)
	}
}

func FuzzEscape(f *testing.F) {
	for _, x := range fixtures {
		f.Add(x.text, uint16(0), uint16(len(x.text)))
	}
	f.Fuzz(func(t *testing.T, text string, from, to uint16) {
		_, inside := escaped(t, text)
		end := min(int(to), len(inside))
		if part := inside[min(int(from), end):end]; len(anyReader(part)) > 0 {
			t.Errorf("in %q stands %+v", part, anyReader(part))
		}
	})
}

func TestAQuotationIsPlainlyTheSame(t *testing.T) {
	const call = "{\"tool_name\": \"rm\", \"arguments\": {\"path\": \"C:\\\\new <a> 😀 读\\n\"}}"
	quote := func(text string) string { raw, _ := json.Marshal(text); return string(raw) }
	for name, text := range map[string]string{
		"as it is":          call,
		"lines set anew":    strings.ReplaceAll(call, ", ", ",\n\t"),
		"escaped":           quote(call),
		"escaped twice":     quote(quote(call)),
		"escaped by us":     Escape([]byte(quote(call))),
		"in HTML":           strings.NewReplacer("<", "&lt;", ">", "&gt;", `"`, "&#34;").Replace(call),
		"in HTML in JSON":   quote(strings.NewReplacer("<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(call)),
		"halves of letters": strings.ReplaceAll(call, "😀", `\ud83d\ude00`),
	} {
		if got, want := Plain(text), Plain(call); !strings.Contains(got, want) {
			t.Errorf("%s: %q has not %q", name, got, want)
		}
	}
}

func FuzzPlain(f *testing.F) {
	f.Add(`{"tool_name":"a\\n\u003c"}`)
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.ToValidUTF8(text, "") // as the text of a message is
		raw, _ := json.Marshal(text)
		if got, want := Plain(string(raw)), Plain(text); strings.Trim(got, `"`) != strings.Trim(want, `"`) {
			t.Errorf("%q: %q in quotes, %q without", text, got, want)
		}
	})
}
