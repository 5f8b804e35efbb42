package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/toolfit/toolfit/internal/agent/conversation"
	"github.com/toolfit/toolfit/internal/agent/script"
	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
)

// greedy is a model that calls n tools in every answer.
func greedy(agent string, n int) func(int, *script.Request) script.Answer {
	return func(round int, _ *script.Request) script.Answer {
		var a script.Answer
		for i := range n {
			one := in(agent, fmt.Sprintf("%d.%d", round, i+1), "read_data_from_excel", sheet)
			a.Text, a.Calls = a.Text+one.Text, append(a.Calls, one.Calls...)
		}
		return a
	}
}

func TestLimitsHoldWhateverTheModelDoes(t *testing.T) {
	cases := []struct {
		capabilities   string
		each           int // calls in each answer
		sent, rounds   int
		skipped, calls int
		limit          string
	}{
		{"max_tool_calls: 5, max_reflection_iterations: 10", 2, 5, 4, 3, 8, "5 calls"},
		{"max_tool_calls: 1, max_reflection_iterations: 10", 3, 1, 2, 5, 6, "1 call"},
		{"max_tool_calls: 1000, max_reflection_iterations: 3", 1, 3, 4, 1, 4, "4 rounds"},
		{"max_tool_calls: 1000, max_reflection_iterations: 1", 1, 1, 2, 1, 2, "2 rounds"},
		{"max_tool_calls: 1000, max_reflection_iterations: 0", 1, 1, 1, 0, 1, "1 round"},
		{"enable_reflection: false, max_reflection_iterations: 10", 1, 1, 2, 1, 2, "2 rounds"},
	}
	for _, c := range cases {
		for agent, model := range map[string]string{"helper": "native", "writer": "text"} {
			t.Run(agent+": "+c.capabilities, func(t *testing.T) {
				w := newWorld(t, fmt.Sprintf("  x: {model: %s, capabilities: {%s}}\n", model, c.capabilities), nil)
				w.say = greedy(agent, c.each)
				a := w.must(w.turn("x", "go"))
				if len(w.sent) != c.sent || a.Rounds != c.rounds || len(w.asked) != c.rounds || a.Finish != "length" || a.Limit != c.limit {
					t.Errorf("%d sent, %d rounds, %d asked, %s: %s", len(w.sent), a.Rounds, len(w.asked), a.Finish, a.Limit)
				}
				skipped := strings.Count(statuses(a.Calls), string(conversation.Skipped))
				if skipped != c.skipped || len(a.Calls) != c.calls {
					t.Errorf("%s", statuses(a.Calls))
				}
				last := string(w.asked[len(w.asked)-1].Raw)
				if told := strings.Contains(last, `"tool_choice":"none"`) || strings.Contains(last, answerNow); told != (c.rounds > 1) {
					t.Errorf("told that nothing can be called: %v", told)
				}
			})
		}
	}
}

func TestAnAgentWithoutToolCallingHasNoTools(t *testing.T) {
	w := newWorld(t, "  x: {model: native, capabilities: {enable_tool_calling: false}}\n  y: {model: text, capabilities: {enable_tool_calling: false, enable_planning: true}}\n", nil)
	w.say = func(int, *script.Request) script.Answer { return script.Answer{Text: "Just text."} }
	for _, agent := range []string{"x", "y"} {
		w.must(w.turn(agent, "go"))
		last := w.asked[len(w.asked)-1]
		if len(last.Tools) != 0 || last.Messages[0].Text() != "You are "+agent+"." {
			t.Errorf("%s", last.Raw)
		}
	}
}

func TestTheTimeOfAnAnswerIsLimited(t *testing.T) {
	w := newWorld(t, "  x: {model: native}\n", nil)
	w.script(readSheet)
	w.serve = func(ctx context.Context, _ upstream.Call) (string, error) {
		<-ctx.Done()
		return "", fault.New(fault.Canceled, "gone")
	}
	x := w.cfg.AgentNamed("x")
	var a *Answer
	for x.Timeout = 250 * time.Millisecond; a == nil || len(a.Calls) == 0; x.Timeout *= 2 { // a busy machine takes longer to the call
		var err error
		want := fmt.Sprintf("the answer took longer than %s", x.Timeout)
		if a, err = w.Answer(t.Context(), w.turn("x", "go")); !fault.Is(err, fault.UpstreamTimeout) ||
			!strings.Contains(err.Error(), want) {
			t.Fatalf("%v, want %s", err, want)
		}
	}
	if got := statuses(a.Calls); got != "call_001 failed" || !strings.HasSuffix(w.transcript(a.Session), "(failed)") {
		t.Errorf("%s\n%s", got, w.transcript(a.Session))
	}
}

func TestTheTokensOfAnAnswerAreLimited(t *testing.T) {
	w := newWorld(t, "  x: {model: native, max_tokens: 2000, available_tools: [apply_formula]}\n  y: {model: native, max_tokens: 100}\n",
		nil)
	w.script(script.Answer{Text: strings.Repeat("word ", 50_000)})
	a := w.must(w.turn("x", "go"))
	if a.Finish != "length" || a.Limit != "2000 tokens" || len(a.Text) > 20_000 || len(a.Text) < 100 {
		t.Errorf("%s %s, %d bytes", a.Finish, a.Limit, len(a.Text))
	}
	if _, err := w.Answer(t.Context(), w.turn("y", strings.Repeat("long ", 1000))); !fault.Is(err, fault.TooLarge) {
		t.Errorf("%v", err)
	}
}

func TestResultsAreCutWithAHandleToTheRest(t *testing.T) {
	long := strings.Repeat("第一行的内容。", 3000)
	var rows []string
	for i := range 400 {
		rows = append(rows, fmt.Sprintf(`{"id":%d,"name":"行 %d","note":"some words about it"}`, i, i))
	}
	table := `{"rows":[` + strings.Join(rows, ",") + `],"total":400}`
	results := map[string]string{
		"text": string(textResult(long)), "JSON": string(textResult(table)),
		"structured": `{"content":[],"structuredContent":` + table + `}`,
		"an error":   strings.Replace(string(textResult(long)), "}]}", `}],"isError":true}`, 1),
		"one row":    string(textResult(`{"a":"` + strings.Repeat("x", 9000) + `"}`)),
	}
	for name, raw := range results {
		for _, agent := range []string{"native", "text"} {
			t.Run(name+", "+agent, func(t *testing.T) {
				w := newWorld(t, "  x: {model: "+agent+", capabilities: {max_tool_result_length: 1500}}\n", nil)
				w.serve = func(context.Context, upstream.Call) (string, error) { return raw, nil }
				kind := map[string]string{"native": "helper", "text": "writer"}[agent]
				w.script(in(kind, "1", "read_data_from_excel", sheet), script.Answer{Text: "ok"})
				a := w.must(w.turn("x", "go"))
				got := a.Calls[0].Result + a.Calls[0].Error
				if n := utf8.RuneCountInString(got); n > 1500 || n < 300 || !utf8.ValidString(got) {
					t.Errorf("%d characters", n)
				}
				ref := a.Calls[0].Ref
				if ref == "" || !strings.Contains(got, ref) {
					t.Errorf("no handle: %s", got)
				}
				kept, err := w.store.Result(t.Context(), "local", ref)
				if err != nil || string(kept.Body) != raw {
					t.Errorf("the full result is not kept: %v", err)
				}
			})
		}
	}
}

func TestTheRestOfAResultCanBeFetched(t *testing.T) {
	w := newWorld(t, "  x: {model: native, available_tools: [read_data_from_excel], capabilities: {max_tool_result_length: 1000}}\n", nil)
	w.serve = func(context.Context, upstream.Call) (string, error) {
		return string(textResult(strings.Repeat("0123456789", 1000) + "the end")), nil
	}
	w.say = func(n int, r *script.Request) script.Answer {
		switch n {
		case 1:
			return in("helper", "1", "read_data_from_excel", sheet)
		case 2:
			text := r.Last().Text()
			ref := text[strings.Index(text, "r_"):]
			ref = ref[:strings.IndexAny(ref, `"\`)]
			return in("helper", "2", "fetch_result", `{"ref":"`+ref+`","offset":9990,"limit":100}`)
		}
		return script.Answer{Text: "ok"}
	}
	a := w.must(w.turn("x", "go"))
	if len(a.Calls) != 2 || a.Calls[1].Status != conversation.Success || !strings.Contains(a.Calls[1].Result, "the end") ||
		len(w.sent) != 1 {
		t.Errorf("%+v", a.Calls)
	}
}

// TestIndependentCallsAreMadeAtOnce holds the order where it counts: two calls of one server
// of which one changes something wait for each other.
func TestIndependentCallsAreMadeAtOnce(t *testing.T) {
	w := newWorld(t, "  x: {model: native, profile: both}\n", nil)
	var mu sync.Mutex
	var order []string
	gate := make(chan struct{})
	w.serve = func(ctx context.Context, c upstream.Call) (string, error) {
		name := string(c.Server) + "." + c.Tool
		if strings.HasSuffix(name, "ping") { // they wait for each other
			select {
			case gate <- struct{}{}:
			case <-gate:
			case <-ctx.Done():
			}
		}
		mu.Lock()
		order = append(order, c.Tool)
		mu.Unlock()
		return string(textResult("ok")), nil
	}
	call := func(name, args string) script.Call { return script.Call{Name: name, Arguments: args} }
	w.script(script.Answer{Calls: []script.Call{
		call("other__ping", `{"n":1}`), call("other__ping", `{"n":2}`),
		call("excel__write_data_to_excel", `{"filepath":"a","sheet_name":"b","data":[]}`), call("excel__read_data_from_excel", sheet),
	}}, script.Answer{Text: "ok"})
	turn := w.turn("x", "go")
	done := make(chan *Answer, 1)
	go func() {
		a, err := w.Answer(t.Context(), turn)
		if err != nil {
			t.Error(err)
		}
		done <- a
	}()
	select {
	case a := <-done:
		if len(a.Calls) != 4 {
			t.Error(statuses(a.Calls))
		}
	case <-time.After(time.Minute):
		t.Fatal("calls that do not depend on each other wait for each other")
	}
	text := strings.Join(order, " ")
	if strings.Index(text, "write_data_to_excel") > strings.Index(text, "read_data_from_excel") {
		t.Errorf("read before it was written: %s", text)
	}
}

func TestOneAnswerAtATimeInASession(t *testing.T) {
	w := newWorld(t, "", nil)
	w.script(script.Answer{Text: "ok"})
	session := w.must(w.turn("helper", "go")).Session
	asked, release := make(chan struct{}), make(chan struct{})
	w.say = func(int, *script.Request) script.Answer {
		close(asked)
		<-release
		return script.Answer{Text: "ok"}
	}
	turn := w.turn("helper", "more")
	turn.Session = session
	done := make(chan error, 1)
	go func() { _, err := w.Answer(t.Context(), turn); done <- err }()
	<-asked
	if _, err := w.Answer(t.Context(), turn); !fault.Is(err, fault.Conflict) {
		t.Errorf("%v", err)
	}
	close(release)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestAHundredChatsAtOnceLoseNothing(t *testing.T) {
	w := newWorld(t, "", nil)
	w.say = func(_ int, r *script.Request) script.Answer {
		if last := r.Last(); last.Role == "tool" {
			return script.Answer{Text: "got " + last.Text()}
		}
		n := strings.TrimPrefix(r.Last().Text(), "chat ")
		return script.Answer{Calls: []script.Call{
			{Name: "read_data_from_excel", Arguments: `{"filepath":"` + n + `","sheet_name":"a"}`},
			{Name: "apply_formula", Arguments: `{"filepath":"` + n + `","sheet_name":"a","cell":"A1","formula":"=1"}`},
		}}
	}
	var work sync.WaitGroup
	for i := range 100 {
		work.Go(func() {
			turn := w.turn("helper", fmt.Sprint("chat ", i))
			turn.Hear = nil
			a, err := w.Answer(t.Context(), turn)
			if err != nil {
				t.Error(err)
				return
			}
			rows, err := w.store.Messages(t.Context(), a.Session, 0, 0)
			if err != nil || len(rows) != 5 {
				t.Errorf("chat %d: %d messages, %v", i, len(rows), err)
				return
			}
			for _, row := range rows[2:4] {
				if !strings.Contains(string(row.Body), fmt.Sprintf(`{\"filepath\":\"%d\"`, i)) {
					t.Errorf("chat %d has another's result: %s", i, row.Body)
				}
			}
		})
	}
	work.Wait()
}

func TestParallelCallsKeepTheirOwnAnswers(t *testing.T) {
	w := newWorld(t, "", nil)
	w.script(script.Answer{Calls: []script.Call{
		{ID: "same", Name: "read_data_from_excel", Arguments: `{"filepath":"1","sheet_name":"a"}`},
		{ID: "same", Name: "read_data_from_excel", Arguments: `{"filepath":"2","sheet_name":"a"}`},
		{ID: "", Name: "read_data_from_excel", Arguments: ""},
	}}, script.Answer{Text: "ok"})
	a := w.must(w.turn("helper", "go"))
	ids := map[string]bool{}
	for i, c := range a.Calls {
		ids[c.ID] = true
		if i < 2 && !strings.Contains(c.Result, fmt.Sprintf(`"filepath":"%d"`, i+1)) {
			t.Errorf("%+v", c)
		}
	}
	if len(ids) != 3 {
		t.Errorf("ids %v", ids)
	}
	var body struct{ Messages []json.RawMessage }
	if err := json.Unmarshal(w.asked[1].Raw, &body); err != nil || string(rawjson.Get(body.Messages[2], "tool_calls")) == "" {
		t.Errorf("%v: %s", err, w.asked[1].Raw)
	}
}
