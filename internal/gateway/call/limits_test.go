package call

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/core/policy"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
	"github.com/toolfit/toolfit/internal/state/access"
)

// limited is a world whose limits are counted in its store.
func limited(t testing.TB, rules string) *world {
	var limits *access.Limits
	w := newWorld(t, rules, &Options{Count: func(ctx context.Context, counts []policy.Count, now time.Time) (int, time.Duration) {
		return limits.Count(ctx, counts, now)
	}})
	limits = access.NewLimits(w.store, nil)
	return w
}

func TestOneCallTooManyIsRefused(t *testing.T) {
	w := limited(t, `
policy:
  - {name: mails, tools: [cloud__env], limit: 2/h}
  - {name: all, limit: 3/d, say: That is enough for today.}
  - {name: none, tools: [cloud__env], when: 'has(args.action)', then: deny}
  - {name: seen, limit: 1/d, mode: watch}
`)
	refused := func(who, tool, args string, code fault.Code) *fault.Error {
		t.Helper()
		_, err := w.do(who, tool, args)
		if !fault.Is(err, code) {
			t.Fatalf("%s by %s: %v, want %s", tool, who, err, code)
		}
		return fault.As(err)
	}
	refused("ann", "cloud__env", `{"action":"delete"}`, fault.Denied) // does not count
	w.must("ann", "cloud__env", `{}`)
	w.must("ann", "cloud__env", `{}`)
	f := refused("ann", "cloud__env", `{}`, fault.LimitReached)
	if f.Message != "the policy permits no more than 2 such calls per hour" || f.Hint != "it is possible again in 1h0m0s" ||
		string(f.Details) != `{"retryAfter":3600}` {
		t.Errorf("%s; %s; %s", f.Message, f.Hint, f.Details)
	}
	if last := w.records[len(w.records)-1]; last.Policy != "watch seen, limit mails" || last.Code != "limit_reached" {
		t.Errorf("recorded: %q %s", last.Policy, last.Code)
	}
	w.must("ann", "cloud__own", `{}`) // the third of all: the refused ones were not counted
	if f := refused("ann", "cloud__own", `{}`, fault.LimitReached); f.Message != "That is enough for today." {
		t.Error(f.Message)
	}
	w.must("bob", "cloud__env", `{}`)
	if len(w.sent) != 4 {
		t.Errorf("%d were sent", len(w.sent))
	}
}

func TestTheSameCallInARowIsRefused(t *testing.T) {
	const rule = "policy: [{name: loop, tools: [cloud__env], repeats: 2}]\n"
	type made struct{ who, session, tool, args string }
	a := made{"ann", "s1", "cloud__env", `{"action":"x","n":1}`}
	for _, tc := range []struct {
		name    string
		before  []made
		refused bool
	}{
		{"after itself with its members in another order", []made{a, {"ann", "s1", "cloud__env", `{"n": 1, "action": "x"}`}}, true},
		{"after a call that the rule is not about", []made{a, a, {"ann", "s1", "cloud__own", `{}`}}, true},
		{"after a call in another session", []made{a, a, {"ann", "s2", "cloud__env", `{}`}}, true},
		{"after a call of another caller", []made{a, a, {"bob", "s1", "cloud__env", `{}`}}, true},
		{"not after a call with other arguments", []made{a, a, {"ann", "s1", "cloud__env", `{"action":"x","n":2}`}}, false},
		{"not in another session", []made{{"ann", "s2", a.tool, a.args}, {"ann", "s2", a.tool, a.args}}, false},
		{"not by another caller", []made{{"bob", "s1", a.tool, a.args}, {"bob", "s1", a.tool, a.args}}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := limited(t, rule)
			do := func(m made) error {
				req := Request{Principal: access.Principal{ID: m.who, Role: access.Caller}, Profile: "default", AsListed: true, MCPSession: m.session}
				_, err := w.as(req, m.tool, m.args)
				return err
			}
			for _, m := range tc.before {
				if err := do(m); err != nil {
					t.Fatalf("%+v: %v", m, err)
				}
			}
			err := do(a)
			if fault.Is(err, fault.LimitReached) != tc.refused || err != nil && !tc.refused {
				t.Fatalf("got %v", err)
			}
			if tc.refused && !strings.HasPrefix(err.Error(), "this call was made 2 times in a row with the same arguments") {
				t.Error(err)
			}
			if policy := w.records[len(w.records)-1].Policy; (policy == "limit loop") != tc.refused {
				t.Errorf("recorded: %q", policy)
			}
		})
	}
}

// A call counts once, however often it is tried; what is configured in its place counts as well.
func TestRetriesCountOnce(t *testing.T) {
	w := limited(t, `
overrides: [{tool: cloud__env, retry: 2, fallback: [cloud__own]}]
policy: [{name: env, tools: [cloud__env], limit: 1/h}, {name: own, tools: [cloud__own], limit: 1/h}]
`)
	tried := 0
	w.servers = fakeSender{call: func(_ context.Context, c upstream.Call) (upstream.Outcome, error) {
		tried++
		return upstream.Outcome{}, fault.New(fault.UpstreamDown, "down").Unsent()
	}}
	if _, err := w.do("ann", "cloud__env", `{}`); !fault.Is(err, fault.UpstreamDown) || tried != 4 {
		t.Errorf("%v, tried %d times", err, tried)
	}
	if _, err := w.do("ann", "cloud__own", `{}`); !fault.Is(err, fault.LimitReached) {
		t.Errorf("the fallback did not count: %v", err)
	}
}
