package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode"

	"github.com/toolfit/toolfit/internal/agent/conversation"
	"github.com/toolfit/toolfit/internal/agent/script"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/tokens"
	"github.com/toolfit/toolfit/internal/gateway/call"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
)

func TestTheNearestToolsAreNamedForAnUnknownOne(t *testing.T) {
	const more = "  few: {model: native, available_tools: [read_data_from_excel, write_data_to_excel]}\n"
	for _, c := range []struct{ agent, name, want string }{
		{"helper", "read_data_from_exel", "unknown tool: read_data_from_exel (did you mean read_data_from_excel"},
		{"writer", "write_excel_data", "unknown tool: write_excel_data (did you mean write_data_to_excel"},
		{"helper", "formula_apply", "unknown tool: formula_apply (did you mean apply_formula"},
		{"few", "formula_apply", "unknown tool: formula_apply"},
		{"few", "aply_formulas", "unknown tool: aply_formulas"},
	} {
		w := newWorld(t, more, nil)
		w.script(in(c.agent, "1", c.name, "{}"), script.Answer{Text: "I see."})
		a := w.must(w.turn(c.agent, "go"))
		got := a.Calls[0].Error
		if !strings.HasPrefix(got, c.want) || c.agent == "few" && strings.Contains(got, "apply_formula") {
			t.Errorf("%s calls %s: %s", c.agent, c.name, got)
		}
		view, err := w.parts.Tools.Listed(t.Context(), "default")
		if err != nil {
			t.Fatal(err)
		}
		if c.agent != "few" && got != view.Unknown(c.name, nil).Error() {
			t.Errorf("%s, and over MCP: %s", got, view.Unknown(c.name, nil).Error())
		}
	}
}

func TestASearchFindsOnlyTheAgentsTools(t *testing.T) {
	w := newWorld(t, "  x: {model: native, profile: wide, denied_tools: ['*formula*', fetch_result]}\n", nil)
	w.script(script.Answer{Calls: []script.Call{
		{ID: "1", Name: "find_tools", Arguments: `{"query":"apply a formula to an Excel cell","limit":50}`},
		{ID: "2", Name: "describe_tool", Arguments: `{"name":"excel__aply_formula"}`},
		{ID: "3", Name: "call_tool", Arguments: `{"name":"excel__apply_formula","arguments":{"filepath":"a","sheet_name":"b","cell":"A1","formula":"=1"}}`},
		{ID: "4", Name: "call_tool", Arguments: `{"name":"fetch_result","arguments":{"ref":"r_x"}}`},
	}}, script.Answer{Text: "ok"})
	a := w.must(w.turn("x", "go"))
	if !strings.Contains(a.Calls[0].Result, "excel__write_data_to_excel") {
		t.Errorf("found %s", a.Calls[0].Result)
	}
	for i, c := range a.Calls {
		if got := strings.ReplaceAll(c.Result+c.Error, "there is no tool excel__", ""); strings.Contains(got, "excel__apply_formula") ||
			i > 0 && c.Status != conversation.Failed {
			t.Errorf("call %d, %s: %s", i+1, c.Status, got)
		}
	}
	if len(w.sent) != 0 || !strings.Contains(a.Calls[3].Error, "there is no tool fetch_result") {
		t.Errorf("sent %+v, and %s", w.sent, a.Calls[3].Error)
	}
}

func TestAnAgentsBudgetTakesThePlaceOfItsProfiles(t *testing.T) {
	var rows []string
	for i := range 2000 {
		rows = append(rows, fmt.Sprintf(`{"id":%d,"name":"row %d","note":"some words about it"}`, i, i))
	}
	result := string(textResult(`{"rows":[` + strings.Join(rows, ",") + `]}`))
	const more = "  plain: {model: native, profile: tight, capabilities: {max_tool_result_length: 1000000}}\n" +
		"  wide: {model: native, profile: tight, budget: 3000, capabilities: {max_tool_result_length: 1000000}}\n" +
		"  slim: {model: native, profile: tight, budget: 150, capabilities: {max_tool_result_length: 1000000}}\n"
	for agent, bounds := range map[string][2]int{"plain": {400, 800}, "wide": {2000, 3000}, "slim": {50, 150}} {
		w := newWorld(t, more, nil)
		w.serve = func(context.Context, upstream.Call) (string, error) { return result, nil }
		w.say = func(n int, r *script.Request) script.Answer {
			switch n {
			case 1:
				return in(agent, "1", "excel__read_data_from_excel", sheet)
			case 2:
				_, ref, _ := strings.Cut(r.Last().Text(), `"ref":"`)
				ref, _, _ = strings.Cut(ref, `"`)
				return in(agent, "2", "fetch_result", `{"ref":"`+ref+`"}`)
			}
			return script.Answer{Text: "ok"}
		}
		a := w.must(w.turn(agent, "go"))
		for i, c := range a.Calls {
			if n := tokens.Estimate(c.Result); n < bounds[0] || n > bounds[1]*5/4 {
				t.Errorf("%s: call %d gives %d tokens, want %v", agent, i+1, n, bounds)
			}
		}
	}
}

// english are the letters of a text that are neither names nor code.
func english(text string, but ...string) string {
	for _, word := range but {
		text = strings.ReplaceAll(text, word, "")
	}
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r > unicode.MaxASCII || !unicode.IsLetter(r) }), " ")
}

func TestAnAgentsModelIsSpokenToInItsLanguage(t *testing.T) {
	const more = "  x: {name: 表格助手, model: %s, language: zh, available_tools: ['excel__apply*'], capabilities: {enable_planning: true, max_tool_calls: 2, max_tool_result_length: 1000}}\n" +
		"overrides: [{tool: excel__apply_formula, descriptions: {zh-Hans: 对单元格应用公式}}]\n"
	for _, kind := range []string{"native", "text"} {
		t.Run(kind, func(t *testing.T) {
			w := newWorld(t, fmt.Sprintf(more, kind), nil)
			w.serve = func(context.Context, upstream.Call) (string, error) {
				return string(textResult(strings.Repeat("长", 5000))), nil
			}
			as := map[string]string{"native": "helper", "text": "writer"}[kind]
			w.say = func(n int, _ *script.Request) script.Answer {
				switch n {
				case 1:
					return in(as, "1", "nothing", "{}")
				case 2:
					return in(as, "2", "apply_formula", `{"filepath":"a","sheet_name":"b","cell":"A1","formula":"=1"}`)
				}
				return script.Answer{Text: "ok"}
			}
			a := w.must(w.turn("x", "go"))
			if got := a.Calls[0].Error; got != "未知工具：nothing" {
				t.Error(got)
			}
			if got := a.Calls[1].Result; !strings.Contains(got, "已截断：共 5000 个字符；用 fetch_result") && !strings.Contains(got, `"_omitted"`) {
				t.Error(got)
			}
			system := w.asked[0].Messages[0].Text()
			begins := "你是 表格助手。\n\n需要时请使用工具。每次回答最多调用 2 次。\n\n首次调用之前，"
			if !strings.HasPrefix(system, begins) {
				t.Errorf("%s", system)
			}
			if kind == "native" {
				if left := english(system, "apply_formula"); left != "" || !strings.HasSuffix(system, "\n\n可用工具：apply_formula") {
					t.Errorf("%q in %s", left, system)
				}
				var body struct {
					Tools []struct {
						Function struct{ Description string }
					}
				}
				if err := json.Unmarshal(w.asked[2].Raw, &body); err != nil || body.Tools[0].Function.Description != "对单元格应用公式" ||
					!strings.HasPrefix(body.Tools[1].Function.Description, "获取先前结果") {
					t.Errorf("%v: %+v", err, body)
				}
				return
			}
			if !strings.Contains(system, "\n\n## 可用工具（详细信息）\n\n**apply_formula**\n  对单元格应用公式\n") ||
				!strings.Contains(system, "切勿自行书写 <tool_result>。") {
				t.Errorf("%s", system)
			}
			if got := w.asked[2].Last().Text(); !strings.HasSuffix(got, "不能再调用工具。请立即根据已知内容回答。") {
				t.Errorf("%s", got)
			}
		})
	}
}

func TestRefusalsAreInTheAgentsLanguage(t *testing.T) {
	for name, c := range map[string]struct {
		say  script.Answer
		want string
	}{
		"a call that ends early": {script.Answer{Text: `<tool_call>{"tool_name":"apply_formula","arguments":{"cell":"A`},
			"无法读取调用：在第 51 字节处：文本在字符串中途结束（写成 <tool_call>"},
		"a call among the words": {script.Answer{Text: "I call:\n{\"tool_name\":\"apply_formula\",\"arguments\":{}}"},
			"未调用：它写在正文中，正文中的内容不会被调用（如果确要调用，请写成 <tool_call>"},
		"a call in the thoughts": {script.Answer{Reasoning: `<tool_call>{"tool_name":"apply_formula","arguments":{}}</tool_call>`},
			"未调用：它写在思考内容中（请在其后、在回答正文中写出调用）"},
		"a call without a name": {script.Answer{Text: `<tool_call>{"arguments":{}}</tool_call>`},
			"无法读取调用：调用缺少 tool_name（写成 <tool_call>"},
		"arguments that do not fit": {script.Answer{Text: `<tool_call>{"tool_name":"apply_formula","arguments":{"cell":5,"formula":"","filepath":"","x":1}}</tool_call>`}, "参数不符合要求："},
	} {
		w := newWorld(t, "  x: {model: text, language: zh}\n", nil)
		w.script(c.say, script.Answer{Text: "ok"})
		a := w.must(w.turn("x", "go"))
		if len(a.Calls) != 1 || !strings.HasPrefix(a.Calls[0].Error, c.want) {
			t.Errorf("%s: %+v", name, a.Calls)
		}
	}
}

func TestEveryToolOfOursForSearchesIsDescribedInChinese(t *testing.T) {
	w := newWorld(t, "  x: {model: native, profile: wide, language: zh}\n", nil)
	w.script(script.Answer{Text: "ok"})
	w.must(w.turn("x", "go"))
	seen := 0
	for tool := range rawArray(rawjson.Get(w.asked[0].Raw, "tools")) {
		name, _ := rawjson.String(rawjson.Get(tool, "function", "name"))
		if name != call.FindTools && name != call.DescribeTool && name != call.CallTool {
			continue
		}
		seen++
		var check func(value []byte)
		check = func(value []byte) {
			for m := rawjson.Object(value); m.Next(); {
				if text, ok := rawjson.String(m.Value); ok && string(m.Key) == "description" &&
					!strings.ContainsFunc(text, func(r rune) bool { return unicode.Is(unicode.Han, r) }) {
					t.Errorf("%s: %s", name, text)
				}
				check(m.Value)
			}
		}
		check(rawjson.Get(tool, "function"))
	}
	if seen != 3 {
		t.Errorf("%d tools: %s", seen, w.asked[0].Raw)
	}
}

func rawArray(list []byte) func(func([]byte) bool) {
	return func(yield func([]byte) bool) {
		for w := rawjson.Array(list); w.Next() && yield(w.Value); {
		}
	}
}
