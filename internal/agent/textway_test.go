package agent

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/agent/script"
	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// TestACallInTagsReachesTheTool holds that values in tags, which are all text, become what
// the tool's schema has for them, and that the model sees its call in the words of the
// protocol from then on.
func TestACallInTagsReachesTheTool(t *testing.T) {
	const want = `{"filepath":"7","sheet_name":"true","preview_only":true}`
	w := newWorld(t, "", nil)
	for name, text := range map[string]string{
		"between our tags":    "<tool_call>\n<function=read_data_from_excel>\n<parameter=filepath>\n7\n</parameter>\n<parameter=sheet_name>\ntrue\n</parameter>\n<parameter=preview_only>\nTrue\n</parameter>\n</function>\n</tool_call>",
		"our tag is missing":  "<function=read_data_from_excel>\n<parameter=filepath>\n7\n</parameter>\n<parameter=sheet_name>\ntrue\n</parameter>\n<parameter=preview_only>\ntrue\n</parameter>\n</function>\n</tool_call>",
		"with attributes":     `<invoke name="read_data_from_excel"><parameter name="filepath">7</parameter><parameter name="sheet_name">true</parameter><parameter name="preview_only">true</parameter></invoke>`,
		"keys beside values":  "<tool_call>read_data_from_excel\n<arg_key>filepath</arg_key>\n<arg_value>7</arg_value>\n<arg_key>sheet_name</arg_key>\n<arg_value>true</arg_value>\n<arg_key>preview_only</arg_key>\n<arg_value>true</arg_value>\n</tool_call>",
		"JSON between a name": `<function=read_data_from_excel>{"filepath":"7","sheet_name":"true","preview_only":true}</function>`,
	} {
		t.Run(name, func(t *testing.T) {
			w.forget()
			w.script(script.Answer{Text: "Let me look.\n\n" + text, Piece: 7}, script.Answer{Text: "ok"})
			a := w.must(w.turn("writer", "go"))
			if got := statuses(a.Calls); got != "call_1_1 success" || strings.TrimSpace(a.Text) != "Let me look.\n\n\n\nok" {
				t.Fatalf("%s, %q", got, a.Text)
			}
			if got := string(rawjson.Get(w.sent[0].Params, "arguments")); got != want {
				t.Errorf("sent %s", got)
			}
			if said := w.asked[1].Messages[2].Text(); !strings.HasPrefix(said, "Let me look.") ||
				!strings.Contains(said, `<tool_call>{"id":"call_1_1","tool_name":"read_data_from_excel","arguments":{"filepath":"7"`) {
				t.Errorf("the model sees %s", said)
			}
		})
	}
}

func TestACallThatCannotBeReadIsAnsweredWithTheRightForm(t *testing.T) {
	w := newWorld(t, "", nil)
	for text, reason := range map[string]string{
		"<tool_call>ping()</tool_call>":                            "expected a JSON object",
		"<function=ping><parameter=n>1</function>":                 "has no end",
		"<tool_call><function=ping>n = 1</function></tool_call>":   "expected a parameter",
		"<tool_call>{\"tool_name\":\"ping\",\"arguments\":{\"n\":": "the text ends where a value is due",
	} {
		w.forget()
		w.script(script.Answer{Text: text}, script.Answer{Text: "ok"})
		a := w.must(w.turn("writer", "go"))
		if statuses(a.Calls) != "call_1_1 failed" || len(w.sent) != 0 || a.Text != "ok" {
			t.Errorf("%s: %+v", text, a)
		}
		if told := w.asked[1].Last().Text(); !strings.Contains(told, reason) ||
			!strings.Contains(told, `\"tool_name\":\"NAME\",\"arguments\":{…}`) {
			t.Errorf("%s: the model is told %s", text, told)
		}
	}
}

func TestAModelThatMakesUpAResultIsGivenTheRealOne(t *testing.T) {
	w := newWorld(t, "", nil)
	call := in("writer", "1", "read_data_from_excel", sheet).Text
	w.script(script.Answer{Text: "Let me look. " + call +
		"\n<tool_result>{\"id\":\"1\",\"success\":true,\"result\":\"made up\"}</tool_result>\nIt says: made up. " +
		strings.Replace(call, `"1"`, `"2"`, 1), Piece: 6}, script.Answer{Text: "ok"})
	a := w.must(w.turn("writer", "go"))
	if got := statuses(a.Calls); got != "1 success, 2 failed" || len(w.sent) != 1 || strings.Contains(a.Text, "made up") ||
		!strings.HasSuffix(a.Text, "ok") {
		t.Errorf("%s, %d sent, %q", got, len(w.sent), a.Text)
	}
	if told := w.asked[1].Last().Text(); !strings.Contains(told, "did {") ||
		!strings.Contains(told, "it stands behind a result that you made up (wait for the results") {
		t.Errorf("%s", told)
	}
	if _, heard := w.heard(); strings.Contains(heard, "made up") {
		t.Errorf("heard %q", heard)
	}
}

// TestACallInWordsIsAskedAbout holds that such a call is neither made nor passed over, and
// that what only looks like one is an answer.
func TestACallInWordsIsAskedAbout(t *testing.T) {
	w := newWorld(t, "", nil)
	fenced := func(name string) string {
		return "```json\n{\"id\":\"1\",\"tool_name\":\"" + name + "\",\"arguments\":" + sheet + "}\n```"
	}
	leaked := "Let me look.\n<function=read_data_from_excel>\n<parameter=filepath>\na\n</parameter>\n</function>\n</tool_call>"
	for _, c := range []struct{ agent, says, hint string }{
		{"writer", fenced("read_data_from_excel"), "if a call is meant, write it as"},
		{"helper", fenced("read_data_from_excel"), "if a call is meant, call the function again; if not, answer"},
		{"helper", leaked, "if a call is meant, call the function again; if not, answer"},
	} {
		w.forget()
		w.script(script.Answer{Text: c.says}, in(c.agent, "2", "read_data_from_excel", sheet), script.Answer{Text: "ok"})
		a := w.must(w.turn(c.agent, "go"))
		if got := statuses(a.Calls); !strings.HasSuffix(got, "1 failed, 2 success") || len(w.sent) != 1 ||
			!strings.HasSuffix(a.Text, "ok") {
			t.Errorf("%s: %s, %d sent, %q", c.agent, got, len(w.sent), a.Text)
		}
		if told := w.asked[1].Last().Text(); !strings.Contains(told, "not called: it stands in your text, where nothing is called") ||
			!strings.Contains(told, c.hint) {
			t.Errorf("%s: %s", c.agent, told)
		}
	}
	for _, agent := range []string{"writer", "helper"} {
		w.forget()
		w.script(script.Answer{Text: fenced("another_tool")})
		if a := w.must(w.turn(agent, "go")); len(a.Calls) != 0 || a.Text != fenced("another_tool") || a.Finish != "stop" {
			t.Errorf("%s: %+v", agent, a)
		}
	}
}

// TestACallInWordsIsAskedAboutOnce holds that a model that writes it again has answered: it was
// asked how a call is written.
func TestACallInWordsIsAskedAboutOnce(t *testing.T) {
	w := newWorld(t, "", nil)
	example := "Like this:\n{\"tool_name\":\"read_data_from_excel\",\"arguments\":" + sheet + "}"
	for _, agent := range []string{"writer", "helper"} {
		w.forget()
		w.script(script.Answer{Text: example}, script.Answer{Text: example})
		a := w.must(w.turn(agent, "how is it called?"))
		if len(w.asked) != 2 || a.Finish != "stop" || statuses(a.Calls) != "call_1_1 failed" || !strings.HasSuffix(a.Text, example) {
			t.Errorf("%s: asked %d times, %+v", agent, len(w.asked), a)
		}
	}
}

// TestACallInAnotherFormIsAskedAbout holds that the model sees its call in the agreed form when it is asked.
func TestACallInAnotherFormIsAskedAbout(t *testing.T) {
	w := newWorld(t, "", nil)
	const args = `{"filepath":"a.xlsx","sheet_name":"S","preview_only":true}`
	for _, text := range []string{
		`[read_data_from_excel(filepath="a.xlsx", sheet_name='S', preview_only=True)]`,
		"Let me look.\nread_data_from_excel(filepath='a.xlsx', sheet_name='S', preview_only=True)",
		"```python\nread_data_from_excel('a.xlsx', 'S', preview_only=True)\n```",
		"{'tool': 'read_data_from_excel', 'args': {'filepath': 'a.xlsx', 'sheet_name': 'S', 'preview_only': True}}",
		`{"tool_calls":[{"type":"function","function":{"name":"read_data_from_excel","arguments":"{\"filepath\":\"a.xlsx\",\"sheet_name\":\"S\",\"preview_only\":true}"}}]}`,
	} {
		for _, agent := range []string{"writer", "helper"} {
			w.forget()
			w.script(script.Answer{Text: text}, script.Answer{Text: "ok"})
			a := w.must(w.turn(agent, "go"))
			if statuses(a.Calls) != "call_1_1 failed" || len(w.sent) != 0 || string(a.Calls[0].Arguments) != args {
				t.Errorf("%s: %s: %+v", agent, text, a.Calls)
			}
			if told := w.asked[1].Last().Text(); !strings.Contains(told, "if a call is meant") {
				t.Errorf("%s: %s: %s", agent, text, told)
			}
		}
	}
	w.forget()
	w.script(script.Answer{Text: "read_data_from_excel(1, 2, 3, 4, 5, 6)"}, script.Answer{Text: "ok"})
	if a := w.must(w.turn("writer", "go")); statuses(a.Calls) != "call_1_1 failed" || a.Calls[0].Arguments != nil ||
		!strings.Contains(w.asked[1].Messages[2].Text(), `"arguments":"read_data_from_excel(1, 2, 3, 4, 5, 6)"`) {
		t.Errorf("%+v", a)
	}
	for _, text := range []string{
		"Like this:\n```python\nread_data_from_excel(filepath='a')\n```\nThat is all.",
		"```python\ndata = read_data_from_excel(filepath='a')\n```",
		"another_tool(filepath='a')",
		"print(read_data_from_excel(filepath='a'))",
		"Use read_data_from_excel(filepath='a')",
		"read_data_from_excel(filepath=path)",
		`[{"name":"another_tool","arguments":{}}]`,
	} {
		w.forget()
		w.script(script.Answer{Text: text})
		if a := w.must(w.turn("writer", "go")); len(a.Calls) != 0 || a.Text != text {
			t.Errorf("%s: %+v", text, a)
		}
	}
}

func TestValuesWithoutANameAreNamedInTheOrderOfTheSchema(t *testing.T) {
	const two = `{"properties":{"a":{},"b":{},"c":{}},"required":["a","b"]}`
	for _, c := range []struct{ schema, args, want string }{
		{two, `{}`, `{"a":1,"b":"x"}`},
		{two, `{"c":3}`, `{"a":1,"b":"x","c":3}`},
		{two, `{"b":3}`, ""},
		{`{"properties":{"a":{},"b":{}}}`, `{}`, `{"a":1,"b":"x"}`},
		{`{"properties":{"a":{},"b":{}},"required":["b"]}`, `{}`, ""},
		{`{"properties":{"a":{},"b":{},"c":{}},"required":["c"]}`, `{}`, ""},
		{`{"properties":{"a":{}}}`, `{}`, ""},
		{`{}`, `{}`, ""},
	} {
		got := named([]json.RawMessage{[]byte("1"), []byte(`"x"`)}, json.RawMessage(c.args), json.RawMessage(c.schema))
		if string(got) != c.want {
			t.Errorf("%s with %s: %s, want %s", c.schema, c.args, got, c.want)
		}
	}
}
