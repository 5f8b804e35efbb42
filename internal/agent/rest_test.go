package agent

import (
	"context"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/agent/script"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
)

// offered are the names of the tools that a request tells the model of, in either way.
func offered(r *script.Request) string {
	var names []string
	for _, t := range r.Tools {
		names = append(names, t.Function.Name)
	}
	for line := range strings.Lines(r.Messages[0].Text()) {
		if name, ok := strings.CutPrefix(line, "**"); ok {
			names = append(names, strings.TrimSuffix(name, "**\n"))
		}
	}
	return strings.Join(names, " ")
}

func TestFetchResultIsOfferedOnceSomethingWasCut(t *testing.T) {
	const three = "read_data_from_excel write_data_to_excel apply_formula"
	for _, agent := range []string{"helper", "writer"} {
		t.Run(agent, func(t *testing.T) {
			w := newWorld(t, "", nil)
			long := false
			w.serve = func(context.Context, upstream.Call) (string, error) {
				text := "short"
				if long {
					text = strings.Repeat("0123456789", 1000)
				}
				return string(textResult(text)), nil
			}
			w.say = func(n int, _ *script.Request) script.Answer {
				if n == 1 || n == 2 || n == 4 {
					long = n > 1
					return in(agent, "1", "read_data_from_excel", sheet)
				}
				return script.Answer{Text: "ok"}
			}
			session := w.must(w.turn(agent, "go")).Session
			again := w.turn(agent, "more")
			again.Session = session
			w.must(again) // asks 4 and 5: what was cut before can still be fetched
			w.must(w.turn(agent, "another chat"))
			for i, want := range []string{three, three, three + " fetch_result", three + " fetch_result", three + " fetch_result", three} {
				if got := offered(w.asked[i]); got != want {
					t.Errorf("question %d offers %s", i+1, got)
				}
				if names := "Available tools: " + strings.ReplaceAll(want, " ", ", "); agent == "helper" &&
					!strings.HasSuffix(w.asked[i].Messages[0].Text(), names) {
					t.Errorf("question %d: %s", i+1, w.asked[i].Messages[0].Text())
				}
			}
		})
	}
}

func TestAResultThatIsKeptWholeOffersNothingToFetch(t *testing.T) {
	w := newWorld(t, "resultStore: all\n", nil)
	w.script(in("helper", "1", "read_data_from_excel", sheet), script.Answer{Text: "ok"})
	a := w.must(w.turn("helper", "go"))
	if a.Calls[0].Ref == "" || strings.Contains(offered(w.asked[1]), "fetch_result") {
		t.Errorf("ref %q, offers %s", a.Calls[0].Ref, offered(w.asked[1]))
	}
}

func TestFetchResultIsNotOfferedToAnAgentThatIsDeniedIt(t *testing.T) {
	w := newWorld(t, "  x: {model: native, denied_tools: [fetch_result], capabilities: {max_tool_result_length: 1000}}\n", nil)
	w.serve = func(context.Context, upstream.Call) (string, error) {
		return string(textResult(strings.Repeat("0123456789", 1000))), nil
	}
	w.script(in("helper", "1", "read_data_from_excel", sheet), script.Answer{Text: "ok"})
	if w.must(w.turn("x", "go")); strings.Contains(offered(w.asked[1]), "fetch_result") {
		t.Error(offered(w.asked[1]))
	}
}
