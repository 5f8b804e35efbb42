package call

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/policy"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
)

// TestWhatIsDecidedIsWhatIsSent looks at what the server gets, whatever was made of the arguments on the way.
func TestWhatIsDecidedIsWhatIsSent(t *testing.T) {
	const noProd = `policy: [{name: p, then: deny, when: 'has(args.action) && args.action == "prod"', say: Not in prod.}]` + "\n"
	for _, c := range []struct {
		name, config, tool, args string
		busy                     string // the server is busy for these arguments
		sent                     string // the tools and arguments that the server gets
		says                     string // the error
	}{
		{name: "as given", config: noProd, tool: "cloud__env", args: `{"action":"dev"}`, sent: `env {"action":"dev"}`},
		{name: "denied", config: noProd, tool: "cloud__env", args: `{"action":"prod"}`, says: "Not in prod."},
		{name: "escaped", config: noProd, tool: "cloud__env", args: `{"\u0061ction":"pr\u006fd"}`, says: "Not in prod."},
		{name: "a key twice", config: noProd, tool: "cloud__env", args: `{"action":"dev","action":"prod"}`, says: "Not in prod."},
		{name: "a key twice, the other way", config: noProd, tool: "cloud__env", args: `{"action":"prod","action":"dev"}`, says: "Not in prod."},
		{name: "a key in another case", config: noProd, tool: "cloud__env", args: `{"action":"dev","Action":"prod"}`, says: "Not in prod."},
		{name: "inside call_tool", config: noProd + "profiles: {default: {search: on}}\n", tool: "call_tool",
			args: `{"name":"cloud__env","arguments":{"action":"prod"}}`, says: "Not in prod."},
		{name: "inside call_tool, arguments twice", config: noProd + "profiles: {default: {search: on}}\n", tool: "call_tool",
			args: `{"name":"cloud__env","arguments":{"action":"dev"},"arguments":{"action":"prod"}}`, sent: `env {"action":"dev"}`},
		{name: "repaired", config: `policy: [{name: p, then: deny, when: 'args._limit > 4'}]` + "\n", tool: "cloud__own",
			args: `{"_limit":"5"}`, says: "the policy does not permit this call of cloud__own"},
		{name: "repaired and permitted", config: `policy: [{name: p, then: deny, when: 'args._limit > 5'}]` + "\n", tool: "cloud__own",
			args: `{"_limit":"5"}`, sent: `own {"_limit":5}`},
		{name: "renamed", config: noProd + "overrides: [{tool: cloud__env, rename: {action: where}}]\n", tool: "cloud__env",
			args: `{"where":"prod"}`, says: "Not in prod."},
		{name: "fixed", config: noProd + "overrides: [{tool: cloud__env, fix: {action: prod}}]\n", tool: "cloud__env",
			args: `{}`, says: "Not in prod."},
		{name: "by default", config: noProd + "overrides: [{tool: cloud__env, default: {action: prod}}]\n", tool: "cloud__env",
			args: `{}`, says: "Not in prod."},
		{name: "a denied call has no fallback", config: noProd + "overrides: [{tool: cloud__env, fallback: [cloud__own]}]\n", tool: "cloud__env",
			args: `{"action":"prod"}`, says: "Not in prod."},
		{name: "a fallback with other arguments", config: noProd + "overrides: [{tool: cloud__env, fallback: [{arguments: {action: prod}}]}]\n",
			tool: "cloud__env", args: `{"action":"dev"}`, busy: `{"action":"dev"}`, sent: `env {"action":"dev"}`, says: "busy"},
		{name: "a fallback to another tool",
			config: `policy: [{name: p, then: deny, tools: [cloud__own]}]` + "\noverrides: [{tool: cloud__env, fallback: [cloud__own]}]\n",
			tool:   "cloud__env", args: `{"action":"dev"}`, busy: `{"action":"dev"}`, sent: `env {"action":"dev"}`, says: "busy"},
		{name: "a fallback that is permitted", config: noProd + "overrides: [{tool: cloud__env, fallback: [{arguments: {action: qa}}]}]\n",
			tool: "cloud__env", args: `{"action":"dev"}`, busy: `{"action":"dev"}`, sent: `env {"action":"dev"}, env {"action":"qa"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, c.config, nil)
			w.servers = fakeSender{call: func(ctx context.Context, m upstream.Call) (upstream.Outcome, error) {
				out, err := w.serve(ctx, m)
				if args := rawjson.Get(m.Params, "arguments"); c.busy != "" && string(args) == c.busy {
					return out, fault.New(fault.UpstreamBusy, "busy")
				}
				return out, err
			}}
			_, err := w.do("ann", c.tool, c.args)
			if (err == nil) != (c.says == "") || err != nil && fault.As(err).Message != c.says {
				t.Errorf("says %v, want %q", err, c.says)
			}
			view, _ := w.tools.View("default")
			var sent []string
			for _, m := range w.sent {
				args := rawjson.Get(m.Params, "arguments")
				sent = append(sent, m.Tool+" "+string(args))
				d := view.Decide(access.Principal{ID: "ann"}, view.Named(tool.Canonical("cloud", m.Tool)), args, w.clock)
				if d.Verdict != policy.Allow {
					t.Errorf("%s %s was sent: %s", m.Tool, args, d.Verdict)
				}
			}
			if got := strings.Join(sent, ", "); got != c.sent {
				t.Errorf("sent %s, want %s", got, c.sent)
			}
		})
	}
}

// TestARuleThatFailsLetsNothingThrough has expressions that fail for the arguments, in rules of each kind.
func TestARuleThatFailsLetsNothingThrough(t *testing.T) {
	huge := `[` + strings.Repeat("1,", 500) + `1]`
	for name, c := range map[string]struct{ when, args string }{
		"missing":                 {`args.other == "x"`, `{}`},
		"null":                    {`args.other.size() > 3`, `{"other":null}`},
		"a wrong type":            {`args.other > 3`, `{"other":"4"}`},
		"an object":               {`args.other > 3`, `{"other":{"a":1}}`},
		"a huge number":           {`args.other > 3`, `{"other":1e999}`},
		"too many steps":          {`args.other.all(x, args.other.all(y, args.other.all(z, x+y+z >= 0)))`, `{"other":` + huge + `}`},
		"neither true nor false":  {`args.other`, `{"other":"yes"}`},
		"arguments with two keys": {`args.other == "x"`, `{"other":"x","other":"y"}`},
	} {
		for then, config := range map[string]string{
			"deny": "", "approve": "", "allow": "profiles: {default: {default: deny}}\n",
		} {
			t.Run(name+", "+then, func(t *testing.T) {
				w := newWorld(t, config+"policy: [{name: r, then: "+then+", when: '"+c.when+"'}]\n", nil)
				_, err := w.do("ann", "cloud__env", c.args)
				if !fault.Is(err, fault.Denied) || len(w.sent) != 0 {
					t.Errorf("%v, sent %d", err, len(w.sent))
				}
				if got := w.records[0]; !strings.Contains(got.Message, "Policy: ") {
					t.Errorf("the record does not say why: %+v", got)
				}
			})
		}
	}
}

// TestEveryWayToACallIsDecided has the ways that do not lead through Do, or not at once.
func TestEveryWayToACallIsDecided(t *testing.T) {
	w := newWorld(t, `policy: [{name: p, then: deny, when: '!has(args.action) || args.action != "dev"', say: No.}]`+"\n", nil)
	who := Request{Principal: access.Principal{ID: "ann", Role: access.Caller}, Profile: "default"}
	for _, args := range []string{`{"action":"dev"}`, `{"action":"prod"}`} {
		req := who
		req.Params, _ = NewParams("cloud__env", json.RawMessage(args))
		want := strings.Contains(args, "dev")
		if _, err := w.Curl(t.Context(), req); (err == nil) != want || err != nil && fault.As(err).Message != "No." {
			t.Errorf("Curl of %s: %v", args, err)
		}
		sent := ""
		_, err := w.DoElsewhere(t.Context(), req, Elsewhere{Server: "far", Tool: "x", Send: func(_ context.Context, args json.RawMessage) (json.RawMessage, bool, error) {
			sent = string(args)
			return json.RawMessage(`{}`), false, nil
		}})
		if (err == nil) != want || want != (sent == args) {
			t.Errorf("elsewhere with %s: sent %s, %v", args, sent, err)
		}
	}
	if len(w.sent) != 0 {
		t.Errorf("sent %v", w.sent)
	}
}

// TestARecordHasWhatThePolicyDidInAllAttempts has a call that is retried and then replaced by its fallback.
func TestARecordHasWhatThePolicyDidInAllAttempts(t *testing.T) {
	w := newWorld(t, `
overrides: [{tool: cloud__env, retry: 1, fallback: [{arguments: {action: qa}}, {arguments: {action: prod}}]}]
policy:
  - {name: dev, mode: watch, then: deny, when: args.action == "dev"}
  - {name: numbers, mode: watch, then: deny, when: args.n > 1}
  - {name: prod, then: deny, when: args.action == "prod"}
  - {name: production, then: deny, when: args.action.startsWith("prod")}
`, nil)
	w.servers = fakeSender{call: func(context.Context, upstream.Call) (upstream.Outcome, error) {
		return upstream.Outcome{}, fault.New(fault.UpstreamBusy, "busy")
	}}
	w.do("ann", "cloud__env", `{"action":"dev"}`)
	if got := w.records[0]; got.Policy != "watch dev, watch numbers, deny prod, deny production" || strings.Count(got.Message, "Policy: ") != 1 {
		t.Errorf("policy %q, message %q", got.Policy, got.Message)
	}
}

// TestACallThatWaitedIsDecidedAboutAnew has a server that asks a question, and rules that are changed before the answer comes.
func TestACallThatWaitedIsDecidedAboutAnew(t *testing.T) {
	y := newYard(t, store.WaitingLimits{})
	rules := func(text string) {
		cfg, err := config.Parse("toolfit.yaml", []byte("mcpServers: {s: {command: s}}\npolicy: ["+text+"]\n"), nil)
		if err != nil {
			t.Fatal(err)
		}
		y.tools.(*catalog.Catalog).Apply(cfg)
	}
	y.send = func(_ context.Context, c upstream.Call) (upstream.Outcome, error) {
		c.Slow.Slow(func(error) {})
		return upstream.Outcome{Kind: upstream.InputRequired, Era: mcp.Modern, Raw: json.RawMessage(
			`{"resultType":"input_required","inputRequests":{"who":{"method":"elicitation/create","params":{"message":"Who?"}}}}`)}, nil
	}
	rules(`{name: w, then: deny, mode: watch}`)
	if _, err := y.do(t.Context(), "s__act", NoTask, `{"n":7}`); err != ErrHandedOver {
		t.Fatal(err)
	}
	rules(`{name: d, then: deny, when: args.n == 7, say: Not any more.}`)
	answers := map[string]json.RawMessage{"who": json.RawMessage(`{"action":"accept"}`)}
	if _, err := y.calls.Answer(t.Context(), "ann", y.handles[0].ID, answers); err != nil {
		t.Fatal(err)
	}
	if w := y.ended(); !strings.Contains(string(w.Answer), "Not any more.") || len(y.sent) != 1 {
		t.Errorf("sent %d times: %+v, %s", len(y.sent), w, w.Answer)
	}
}
