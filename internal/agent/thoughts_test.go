package agent

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/agent/script"
)

// heard is all that was heard of thoughts, and of the text.
func (w *world) heard() (thoughts, text string) {
	for _, e := range w.events {
		thoughts, text = thoughts+e.Reasoning, text+e.Text
	}
	return thoughts, text
}

// forget lets the next answer begin anew: a world takes longer to make than to use.
func (w *world) forget() { w.asked, w.sent, w.events, w.told = nil, nil, nil, nil }

func TestACallInThoughtsIsNotMade(t *testing.T) {
	w := newWorld(t, "", nil)
	call := in("writer", "1", "apply_formula", `{"filepath":"a","sheet_name":"b","cell":"A1","formula":"=1"}`).Text
	for name, text := range map[string]string{
		"marked":              "<think>I could do " + call + ", but no.</think>\nNothing to do.",
		"marked after a text": "Nothing<think>" + call + "</think> to do.",
		"only the end marked": "I could do " + call + "\n</think>\n\nNothing to do.",
		"a result made up":    "I could do " + call + "<tool_result>{}</tool_result> and see.\n</think>\n\nNothing to do.",
	} {
		t.Run(name, func(t *testing.T) {
			w.forget()
			w.script(script.Answer{Text: text, Piece: 5})
			a := w.must(w.turn("writer", "go"))
			if len(w.sent) != 0 || len(a.Calls) != 0 || a.Text != "Nothing to do." || a.Finish != "stop" {
				t.Errorf("%d sent, %s, %q", len(w.sent), statuses(a.Calls), a.Text)
			}
			if thoughts, _ := w.heard(); !strings.Contains(thoughts, "apply_formula") {
				t.Errorf("thoughts %q", thoughts)
			}
			if got := w.transcript(a.Session); got != "user: go\nassistant: Nothing to do." {
				t.Errorf("transcript %s", got)
			}
		})
	}
}

// TestAModelThatMarksOnlyTheEndOfItsThoughtsIsKnownByIt holds that a stream has a model's
// thoughts for its answer once, and never again while it goes on like that.
func TestAModelThatMarksOnlyTheEndOfItsThoughtsIsKnownByIt(t *testing.T) {
	w := newWorld(t, "", nil)
	const thoughtful = "They greet, so I do.\n</think>\n\nHello."
	for _, step := range []struct{ name, says, text, thoughts, shown string }{
		{"nothing is known yet", thoughtful, "Hello.", "", "They greet, so I do.\n"},
		{"now it is", thoughtful, "Hello.", "They greet, so I do.\n", ""},
		{"it does not think this time", "Hello.", "Hello.", "Hello.", ""},
		{"so nothing is known again", "Hello.", "Hello.", "", ""},
	} {
		w.forget()
		w.script(script.Answer{Text: step.says, Piece: 4})
		a := w.must(w.turn("helper", "go"))
		thoughts, text := w.heard()
		if a.Text != step.text || thoughts != step.thoughts || strings.TrimSuffix(text, a.Text) != step.shown {
			t.Errorf("%s: %q, thoughts %q, heard %q", step.name, a.Text, thoughts, text)
		}
		if strings.Contains(step.says, "</think>") != (a.Thought == "They greet, so I do.\n") && step.shown == "" {
			t.Errorf("%s: thought %q", step.name, a.Thought)
		}
	}
}

func TestAModelThatOnlyThinksOfACallIsToldSo(t *testing.T) {
	w := newWorld(t, "", nil)
	call := in("writer", "1", "read_data_from_excel", sheet).Text
	for name, first := range map[string]script.Answer{
		"thoughts without an end": {Text: "<think>Let me read. " + call},
		"thoughts with an end":    {Text: "<think>" + call + "</think>"},
		"beside the answer":       {Reasoning: call},
	} {
		t.Run(name, func(t *testing.T) {
			w.forget()
			w.script(first, in("writer", "2", "read_data_from_excel", sheet), script.Answer{Text: "ok"})
			a := w.must(w.turn("writer", "go"))
			if got := statuses(a.Calls); got != "1 failed, 2 success" || len(w.sent) != 1 || a.Text != "ok" {
				t.Errorf("%s, %d sent, %q", got, len(w.sent), a.Text)
			}
			if told := w.asked[1].Last().Text(); !strings.Contains(told, "it stands in your thoughts (write the call after them") {
				t.Errorf("%s", told)
			}
		})
	}
}

func TestThoughtsInTheTextAreNoAnswerOfAModelWithFunctionCalling(t *testing.T) {
	w := newWorld(t, "", nil)
	w.script(script.Answer{Text: "<think>\nThey greet.\n</think>\n\nHello, <tool_call> is a tag."})
	a := w.must(w.turn("helper", "go"))
	if thoughts, text := w.heard(); a.Text != "Hello, <tool_call> is a tag." || text != a.Text || thoughts != "\nThey greet.\n" {
		t.Errorf("%q, heard %q, thoughts %q", a.Text, text, thoughts)
	}
}

// TestThoughtsAreGivenBackWhereTheyAreWanted holds what endpoints with thoughts beside calls
// ask for: they refuse a request in which a message of the assistant lacks them.
func TestThoughtsAreGivenBackWhereTheyAreWanted(t *testing.T) {
	w := newWorld(t, "  other: {model: native}\n", nil)
	second := *w.cfg.ModelNamed("native")
	second.Name = "second"
	w.cfg.Models = append(w.cfg.Models, second)
	w.cfg.AgentNamed("other").Model = "second"
	thoughtful := readSheet
	thoughtful.Reasoning = "先读表格。"
	w.script(thoughtful, script.Answer{Text: "ok"})
	session := w.must(w.turn("helper", "go")).Session
	if got := string(w.asked[1].Raw); strings.Count(got, `"reasoning_content":"先读表格。"`) != 1 {
		t.Errorf("in the same answer: %s", got)
	}
	turn := w.turn("helper", "more")
	turn.Session = session
	w.must(turn)
	if got := string(w.asked[2].Raw); strings.Count(got, `"reasoning_content":"先读表格。"`) != 1 ||
		strings.Count(got, `"reasoning_content":" "`) != 1 {
		t.Errorf("in the next answer: %s", got)
	}
	turn.Agent = "other"
	w.must(turn)
	if got := string(w.asked[3].Raw); strings.Contains(got, "reasoning_content") {
		t.Errorf("to another model: %s", got)
	}
}

func TestAStreamWithoutAnEndIsNoWholeAnswer(t *testing.T) {
	w := newWorld(t, "", nil)
	w.script(script.Answer{Serve: func(rw http.ResponseWriter) {
		fmt.Fprint(rw, `data: {"choices":[{"delta":{"content":"Half of"}}]}`+"\n\n")
	}})
	a := w.must(w.turn("helper", "go"))
	if a.Text != "Half of" || a.Finish != "length" || a.Limit != "the model's stream, which has no end" {
		t.Errorf("%+v", a)
	}
}

func TestArgumentsThatAreAnObjectReachTheTool(t *testing.T) {
	w := newWorld(t, "", nil)
	w.say = func(n int, _ *script.Request) script.Answer {
		if n > 1 {
			return script.Answer{Text: "ok"}
		}
		return script.Answer{Serve: func(rw http.ResponseWriter) {
			fmt.Fprintf(rw, `{"choices":[{"message":{"tool_calls":[{"function":{"name":"read_data_from_excel","arguments":%s}}]}}]}`, sheet)
		}}
	}
	a := w.must(w.turn("helper", "go"))
	if statuses(a.Calls) != "call_1_1 success" || !strings.Contains(a.Calls[0].Result, "test.xlsx") {
		t.Errorf("%+v", a.Calls)
	}
}
