package agent

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/agent/conversation"
	"github.com/toolfit/toolfit/internal/agent/script"
	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
	"github.com/toolfit/toolfit/internal/state/access"
)

const sheet = `{"filepath":"test.xlsx","sheet_name":"Sheet1"}`

var readSheet = script.Answer{Text: "我来读取。", Calls: []script.Call{{ID: "call_001", Name: "read_data_from_excel",
	Arguments: `{"filepath":"test.xlsx","sheet_name":"Sheet1","start_cell":null,"end_cell":null,"preview_only":null}`}}}

func TestAModelWithFunctionCallingUsesTools(t *testing.T) {
	w := newWorld(t, "", nil)
	w.script(readSheet, script.Answer{Text: "有三行。"})
	a := w.must(w.turn("helper", "帮我读取 test.xlsx 的 Sheet1 工作表"))
	if a.Text != "我来读取。\n\n有三行。" || a.Finish != "stop" || a.Rounds != 2 || a.Usage.Prompt == 0 {
		t.Errorf("%+v", a)
	}
	if len(w.sent) != 1 || string(rawjson.Get(w.sent[0].Params, "arguments")) != sheet {
		t.Errorf("the dialect was not undone: %s", w.sent[0].Params)
	}
	if got := statuses(w.told); got != "call_001 running, call_001 success" {
		t.Errorf("told %s", got)
	}
	want := `user: 帮我读取 test.xlsx 的 Sheet1 工作表
assistant: 我来读取。 [call_001 read_data_from_excel {"filepath":"test.xlsx","sheet_name":"Sheet1","start_cell":null,"end_cell":null,"preview_only":null}]
tool: did {"filepath":"test.xlsx","sheet_name":"Sheet1"} (success)
assistant: 有三行。`
	if got := w.transcript(a.Session); got != want {
		t.Errorf("stored:\n%s", got)
	}
	first := w.asked[0]
	if len(first.Tools) != 3 || first.Tools[0].Function.Name != "read_data_from_excel" ||
		!strings.Contains(string(first.Raw), `"temperature":0.1`) || !strings.Contains(string(first.Raw), `"strict":true`) {
		t.Errorf("asked %s", first.Raw)
	}
	if got := w.asked[1].Last(); got.Role != "tool" || got.ToolCallID != "call_001" || strings.Contains(string(w.asked[1].Raw), "toolfit") {
		t.Errorf("asked %s", w.asked[1].Raw)
	}
}

func TestAModelWithoutFunctionCallingUsesTools(t *testing.T) {
	w := newWorld(t, "", nil)
	w.script(
		script.Answer{Text: "好的。\n```json\n<tool_call>" + `{"id":"call_001","tool_name":"read_data_from_excel","arguments":` + sheet +
			"</tool_call>\n```", Piece: 1},
		script.Answer{Text: "有三行。"},
	)
	a := w.must(w.turn("writer", "帮我读取 test.xlsx 的 Sheet1 工作表"))
	if a.Text != "好的。\n\n\n有三行。" || len(w.sent) != 1 || string(rawjson.Get(w.sent[0].Params, "arguments")) != sheet {
		t.Errorf("%+v, sent %+v", a, w.sent)
	}
	if len(w.asked[0].Tools) != 0 || !strings.Contains(w.asked[0].Messages[0].Text(), "**apply_formula**\n") {
		t.Errorf("asked %s", w.asked[0].Raw)
	}
	result := w.asked[1].Last()
	if result.Role != "user" || !strings.HasPrefix(result.Text(),
		`<tool_result>{"id":"call_001","success":true,"result":"did {\"filepath\":`) {
		t.Errorf("the model got %s: %s", result.Role, result.Text())
	}
	said := w.asked[1].Messages[2].Text()
	if !strings.HasSuffix(said, `<tool_call>{"id":"call_001","tool_name":"read_data_from_excel","arguments":`+sheet+`}</tool_call>`) {
		t.Errorf("the model is told that it said %s", said)
	}
}

// in is how a model of either kind writes a call.
func in(agent, id, name, args string) script.Answer {
	if agent == "writer" {
		return script.Answer{Text: fmt.Sprintf(`<tool_call>{"id":%q,"tool_name":%q,"arguments":%s}</tool_call>`, id, name, args)}
	}
	return script.Answer{Calls: []script.Call{{ID: id, Name: name, Arguments: args}}}
}

func TestEveryCallThatIsNotMadeIsAnswered(t *testing.T) {
	cases := []struct{ name, tool, args, want string }{
		{"a tool that there is not", "read_file", "{}", "unknown tool: read_file"},
		{"a tool that the agent has not", "ping", "{}", "unknown tool: ping"},
		{"a tool of another profile", "other__ping", "{}", "unknown tool: other__ping"},
		{"arguments that do not fit", "read_data_from_excel", `{"filepath":"a"}`, "sheet_name"},
		{"arguments that cannot be read", "read_data_from_excel", `{"filepath":"a`, "the text ends inside a string"},
		{"arguments that are a list", "read_data_from_excel", `["a"]`, "arguments"},
	}
	for _, agent := range []string{"helper", "writer"} {
		for _, c := range cases {
			t.Run(agent+": "+c.name, func(t *testing.T) {
				w := newWorld(t, "", nil)
				w.script(in(agent, "1", c.tool, c.args), script.Answer{Text: "I see."})
				a := w.must(w.turn(agent, "go"))
				if len(a.Calls) != 1 || a.Calls[0].Status != conversation.Failed || !strings.Contains(a.Calls[0].Error, c.want) ||
					len(w.sent) != 0 {
					t.Errorf("%+v, %d sent", a.Calls, len(w.sent))
				}
				if got := w.asked[1].Last().Text(); !strings.Contains(got, c.want) || agent == "writer" &&
					!strings.Contains(got, `"success":false`) {
					t.Errorf("the model got %s", got)
				}
			})
		}
	}
}

func TestAToolsOwnErrorIsAFailure(t *testing.T) {
	for _, agent := range []string{"helper", "writer"} {
		w := newWorld(t, "", nil)
		w.serve = func(context.Context, upstream.Call) (string, error) {
			return `{"content":[{"type":"text","text":"no such sheet"}],"isError":true}`, nil
		}
		w.script(in(agent, "1", "read_data_from_excel", sheet), script.Answer{Text: "Sorry."})
		a := w.must(w.turn(agent, "go"))
		if got := statuses(w.told); got != "1 running, 1 failed" || a.Calls[0].Error != "no such sheet" || a.Calls[0].Result != "" {
			t.Errorf("%s: %s, %+v", agent, got, a.Calls)
		}
		if got := w.asked[1].Last().Text(); !strings.Contains(got, "no such sheet") {
			t.Errorf("%s: the model got %s", agent, got)
		}
	}
}

func TestAWordThatMeansSeveralToolsIsAnswered(t *testing.T) {
	w := newWorld(t, "  two: {model: text, profile: both}\n", nil)
	w.script(script.Answer{Text: `<tool_call>{"tool_name":"read_data_from_excel"}</tool_call><tool_call>{"tool_name":"read_data_from_excel","source":"other"}</tool_call><tool_call>{"tool_name":"ping","arguments":"{\"n\":1}"}</tool_call>`}, script.Answer{Text: "ok"})
	a := w.must(w.turn("two", "go"))
	if got := statuses(a.Calls); got != "call_1_1 failed, call_1_2 success, call_1_3 success" {
		t.Errorf("%s: %+v", got, a.Calls)
	}
	if e := a.Calls[0].Error; !strings.Contains(e,
		"can mean several tools (call one of excel__read_data_from_excel, other__read_data_from_excel)") {
		t.Errorf("%s", e)
	}
}

func TestTheCallersSystemMessageTakesThePlaceOfThePrompt(t *testing.T) {
	for _, agent := range []string{"helper", "writer"} {
		w := newWorld(t, "", nil)
		w.script(script.Answer{Text: "ok"})
		turn := w.turn(agent, "go")
		turn.Messages = append([]conversation.Message{conversation.Text(conversation.RoleSystem,
			"Speak like a pirate.\nAvailable tools: none")}, turn.Messages...)
		a := w.must(turn)
		system := w.asked[0].Messages[0].Text()
		if !strings.HasPrefix(system, "Speak like a pirate.") || strings.Contains(system, "You are") || len(w.asked[0].Messages) != 2 {
			t.Errorf("%s", system)
		}
		if has := strings.Contains(system, "## Available Tools (详细信息)"); has != (agent == "writer") ||
			has == strings.Contains(system, "Available tools: none") {
			t.Errorf("%s: %s", agent, system)
		}
		more := w.turn(agent, "again")
		more.Session = a.Session
		w.must(more)
		if got := w.asked[1].Messages[0].Text(); got != system {
			t.Errorf("it does not last: %s", got)
		}
	}
}

func TestTheLogSaysWhoAnswersWithWhat(t *testing.T) {
	var log bytes.Buffer
	w := newWorld(t, "  x: {model: native, available_tools: [apply_formula, gone]}\n",
		&Options{Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
			Redact: func(s string) string { return strings.ReplaceAll(s, "表格助手", "***") }})
	w.script(script.Answer{Text: "ok"})
	w.must(w.turn("writer", "go"))
	w.must(w.turn("x", "go"))
	for _, want := range []string{`[Chat] Using agent: 表格助手 (writer)`, `[Chat] Agent has 3 tools with 3 tool details`,
		`[Chat] Agent has 2 tools with 1 tool details`, "available_tools=[gone]", `level=DEBUG msg="[Chat] System prompt"`, "You are ***."} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %s:\n%s", want, &log)
		}
	}
}

func TestNobodySeesAgentsOfAnotherProfile(t *testing.T) {
	w := newWorld(t, "  two: {model: native, profile: both}\n", nil)
	who := access.Principal{ID: "k", Role: access.Caller, Profile: "default"}
	if list := w.Agents(who); len(list) != 2 {
		t.Errorf("%+v", list)
	}
	turn := w.turn("two", "go")
	turn.Principal = who
	if _, err := w.Answer(t.Context(), turn); !fault.Is(err, fault.NotFound) {
		t.Errorf("%v", err)
	}
	if list := w.Agents(access.Principal{ID: "v", Role: access.Viewer, Profile: "default"}); len(list) != 0 {
		t.Errorf("one who may not call has %+v", list)
	}
}

func TestNothingIsStoredWhereThatIsNotWanted(t *testing.T) {
	w := newWorld(t, "", nil)
	w.script(readSheet, script.Answer{Text: "ok"})
	turn := w.turn("helper", "go")
	turn.Unkept = true
	if a := w.must(turn); a.Session != "" || a.Text == "" {
		t.Errorf("%+v", a)
	}
}
