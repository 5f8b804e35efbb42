package agent

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolfit/toolfit/internal/agent/conversation"
	"github.com/toolfit/toolfit/internal/agent/script"
	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/locale"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/state/access"
)

func TestAllSystemMessagesOfACallerAreThePrompt(t *testing.T) {
	w := newWorld(t, "", nil)
	w.script(script.Answer{Text: "ok"})
	said := func(session string, list ...conversation.Message) (prompt, goesOn string) {
		w.forget()
		turn := w.turn("helper", "go")
		turn.Session, turn.Messages = session, append(list, turn.Messages...)
		goesOn = w.must(turn).Session
		return w.asked[0].Messages[0].Text(), goesOn
	}
	one, two := conversation.Text(conversation.RoleSystem, "Be kind."), conversation.Text(conversation.RoleDeveloper, "Be short.")
	prompt, session := said("", one, two, conversation.Text(conversation.RoleUser, "a"), one)
	if prompt != "Be kind.\n\nBe short." {
		t.Errorf("got %q", prompt)
	}
	if prompt, session = said(session); prompt != "Be kind.\n\nBe short." {
		t.Errorf("those between other messages do not last: %q", prompt)
	}
	prompt, session = said(session, two, one)
	if prompt != "Be short.\n\nBe kind." {
		t.Errorf("in the next question: %q", prompt)
	}
	if prompt, _ = said(session); prompt != "Be short.\n\nBe kind." {
		t.Errorf("the last ones do not last: %q", prompt)
	}
}

func TestChatsGoOnWhereTheyEnded(t *testing.T) {
	w := newWorld(t, "", nil)
	w.script(readSheet, script.Answer{Text: "有三行。"}, script.Answer{Text: "你问过表格。"})
	first := w.must(w.turn("helper", "读取"))
	next := w.turn("helper", "我刚才问了什么？")
	next.Session = first.Session
	if a := w.must(next); a.Session != first.Session || a.Text != "你问过表格。" {
		t.Errorf("%+v", a)
	}
	if n := len(w.asked[2].Messages); n != 6 { // system, four of before, the new one
		t.Errorf("%d messages: %s", n, w.asked[2].Raw)
	}
	stranger := next
	stranger.Principal = access.Principal{ID: "k_other", Role: access.Admin, Profile: "*"}
	if _, err := w.Answer(t.Context(), stranger); !fault.Is(err, fault.NotFound) {
		t.Errorf("a stranger's: %v", err)
	}
	next.Session = "ses_nothing"
	if _, err := w.Answer(t.Context(), next); !fault.Is(err, fault.NotFound) {
		t.Errorf("an unknown one: %v", err)
	}
}

func TestMemoryHasItsLimit(t *testing.T) {
	w := newWorld(t, "  short: {model: native, capabilities: {memory_limit: 3}}\n  none: {model: native, capabilities: {enable_memory: false}}\n", nil)
	w.script(script.Answer{Text: "ok"})
	for agent, want := range map[string]int{"short": 4, "none": 2, "helper": 8} { // system, memory, the new one
		var session string
		for i := range 4 {
			turn := w.turn(agent, fmt.Sprint("message ", i))
			turn.Session = session
			session = w.must(turn).Session
		}
		if got := len(w.asked[len(w.asked)-1].Messages); got != want {
			t.Errorf("%s: %d messages, want %d", agent, got, want)
		}
	}
}

func TestWhatWasInterruptedIsSaidToBe(t *testing.T) {
	w := newWorld(t, "", nil)
	w.script(readSheet, script.Answer{Text: "ok"})
	first := w.must(w.turn("helper", "读取"))
	lost := conversation.Message{Role: conversation.RoleAssistant, Calls: []conversation.Call{{ID: "call_9", Tool: "x", Arguments: "{}"}}}
	if err := w.store.AppendMessages(t.Context(), first.Session, rawjson.Encode(lost)); err != nil { // as if killed here
		t.Fatal(err)
	}
	next := w.turn("helper", "weiter")
	next.Session = first.Session
	w.must(next)
	list := w.asked[len(w.asked)-1].Messages
	if m := list[len(list)-2]; m.Role != "tool" || m.ToolCallID != "call_9" || !strings.Contains(m.Text(), "interrupted") {
		t.Errorf("%+v", m)
	}
}

func TestAModelThatDoesNotAnswerIsNoticed(t *testing.T) {
	w := newWorld(t, "", nil)
	helper := w.cfg.AgentNamed("helper")
	w.script(script.Answer{Text: "ok"})
	first := w.must(w.turn("helper", "hi"))
	next := w.turn("helper", "again")
	next.Session = first.Session
	w.script(script.Answer{Status: 500, Message: "no GPU left"})
	if _, err := w.Answer(t.Context(), next); err == nil {
		t.Fatal("a model that fails has answered")
	}
	const why = "model native answered HTTP 500: no GPU left"
	if got := w.Silence(helper); got != why {
		t.Errorf("the silence of helper is %q", got)
	}
	last, err := w.store.LastMessages(t.Context(), first.Session, 1)
	if err != nil || !strings.Contains(string(last[0].Body), why) {
		t.Errorf("the chat ends with %s, %v", last[0].Body, err)
	}
	w.script(script.Answer{Text: "ok"})
	w.must(next)
	if got := w.Silence(helper); got != "" {
		t.Errorf("after an answer it is %q", got)
	}
	w.script(script.Answer{Status: 413, Message: "too long"})
	if _, err := w.Answer(t.Context(), next); err == nil || w.Silence(helper) != "" {
		t.Errorf("%v, and a chat that is too long counts as silence: %q", err, w.Silence(helper))
	}
}

func TestEveryCallHasItsAnswerRightBehindIt(t *testing.T) {
	call := func(id string) conversation.Message {
		return conversation.Message{Role: conversation.RoleAssistant, Calls: []conversation.Call{{ID: id}}}
	}
	answer := func(id, text string) conversation.Message {
		m := conversation.Text(conversation.RoleTool, text)
		m.CallID = id
		return m
	}
	list := []conversation.Message{
		conversation.Text(conversation.RoleUser, "1"), call("a"), conversation.Text(conversation.RoleUser, "2"), call("b"), answer("a",
			"of a"), answer("b", "of b"), answer("c", "of nothing"),
		call("d"), conversation.Text(conversation.RoleUser, "3"), call("d"), answer("d", "of the second"),
	}
	var got []string
	for _, m := range complete(list, locale.English) {
		line := m.Role + m.CallID + " " + m.Text()
		for _, c := range m.Calls {
			line += c.ID
		}
		got = append(got, strings.TrimSpace(line))
	}
	const lost = "toold The call was interrupted. Whether it was carried out is not known."
	want := []string{"user 1", "assistant a", "toola of a", "user 2", "assistant b", "toolb of b", "assistant d", lost, "user 3",
		"assistant d", "toold of the second"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// longSession is a session of so many messages, of which the second is a prompt.
func (w *world) longSession(n int) string {
	w.t.Helper()
	w.script(script.Answer{Text: "ok"})
	turn := w.turn("helper", "go")
	turn.Messages = append(turn.Messages, conversation.Text(conversation.RoleSystem, "Be kind."))
	session := w.must(turn).Session
	var bodies []json.RawMessage
	for i := 3; i < n; i++ {
		role := []string{conversation.RoleUser, conversation.RoleAssistant}[(i+1)%2]
		bodies = append(bodies, rawjson.Encode(conversation.Text(role, fmt.Sprintf("%d %0200d", i+1, i))))
		if len(bodies) == 1000 || i == n-1 {
			if err := w.store.AppendMessages(w.t.Context(), session, bodies...); err != nil {
				w.t.Fatal(err)
			}
			bodies = nil
		}
	}
	return session
}

func TestALongSessionIsRememberedFromItsEnd(t *testing.T) {
	w := newWorld(t, "  all: {model: native, capabilities: {memory_limit: 10000}}\n  much: {model: native, capabilities: {memory_limit: 1500}}\n  least: {model: native, capabilities: {memory_limit: 1}}\n", nil)
	for _, c := range []struct {
		agent string
		said  int
		first string
	}{{"all", 2499, "go"}, {"much", 1499, "1002 "}, {"least", 1, "2500 "}} {
		session := w.longSession(2500)
		w.forget()
		turn := w.turn(c.agent, "now")
		turn.Session = session
		w.must(turn)
		got := w.asked[0].Messages
		if len(got) != c.said+2 || got[0].Text() != "Be kind." || !strings.HasPrefix(got[1].Text(), c.first) ||
			got[len(got)-1].Text() != "now" {
			t.Errorf("%s: %d messages, %.20q, then %.20q", c.agent, len(got), got[0].Text(), got[1].Text())
		}
	}
}
