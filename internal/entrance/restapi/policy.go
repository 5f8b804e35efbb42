package restapi

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/policy"
	"github.com/toolfit/toolfit/internal/gateway/call"
	"github.com/toolfit/toolfit/internal/state/access"
)

// PolicyRule is a rule of the policy as the API shows it.
type PolicyRule struct {
	Name      string           `json:"name"`
	Says      string           `json:"says"` // what it does if it applies: deny, approve, allow, limit 20/h or repeats 3
	Watch     bool             `json:"watch,omitempty"`
	Profiles  []string         `json:"profiles,omitempty"`
	Who       policy.Selector  `json:"who,omitzero"`
	Tools     []string         `json:"tools,omitempty"`
	Hints     policy.Hints     `json:"hints,omitzero"`
	When      string           `json:"when,omitempty"`
	Approvers *policy.Approver `json:"approvers,omitempty"`
	Say       string           `json:"say,omitempty"`
	Hits      int64            `json:"hits"`        // calls of the last seven days that it decided, or would have; a rule that allows has none
	Days      []int64          `json:"hits_by_day"` // those of each day in UTC, the oldest first
}

// PolicyList is the policy.
type PolicyList struct {
	Rules     []PolicyRule `json:"rules"`
	ByDefault int64        `json:"denied_by_default"` // calls of the last seven days that no rule allowed where one has to
}

// hitDays is how many days of hits are shown, today included.
const hitDays = 7

// ListPolicy returns the rules of the policy with the calls that they applied to lately.
func (a *API) ListPolicy(ctx context.Context, who access.Principal) (PolicyList, error) {
	if !who.MayRead() {
		return PolicyList{}, who.Forbidden("%s may not read the policy")
	}
	a.flush(ctx)
	first := time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, 1-hitDays)
	hits, err := a.Store.PolicyHits(ctx, first)
	days := map[string][]int64{}
	for _, h := range hits {
		day := int(h.Day.Sub(first) / (24 * time.Hour))
		for one := range strings.SplitSeq(h.Policy, ", ") {
			did, name, _ := strings.Cut(one, " ")
			if did == "approved" { // by a person, who may be called like a rule
				continue
			}
			if days[name] == nil {
				days[name] = make([]int64, hitDays)
			}
			if day >= 0 && day < hitDays { // a call may be from the day that has just begun
				days[name][day] += h.Calls
			}
		}
	}
	list := PolicyList{Rules: []PolicyRule{}, ByDefault: total(days[call.ByDefault])}
	for _, r := range a.Config().Policy {
		one := PolicyRule{
			Name: r.Name, Says: r.Says(), Watch: r.Watch, Profiles: r.Profiles, Who: r.Who, Tools: r.Tools, Hints: r.Hints,
			When: r.When, Approvers: r.Approvers, Say: r.Say, Hits: total(days[r.Name]), Days: days[r.Name],
		}
		if one.Days == nil {
			one.Days = make([]int64, hitDays)
		}
		list.Rules = append(list.Rules, one)
	}
	return list, err
}

func total(days []int64) (n int64) {
	for _, calls := range days {
		n += calls
	}
	return n
}

// Counts tells whether calls that the rule applies to are counted: for one that allows them they are not.
func (r PolicyRule) Counts() bool { return r.Watch || r.Says != string(policy.Allow) }

// Selects is which calls the rule is about before its expression is looked at, in the words of the configuration; "": all.
func (r PolicyRule) Selects() string {
	var parts []string
	for _, one := range []struct {
		key    string
		values []string
	}{
		{"profiles", r.Profiles}, {"tools", r.Tools}, {"groups", r.Who.Groups}, {"scopes", r.Who.Scopes}, {"clients", r.Who.Clients},
		{"keys", r.Who.Keys}, {"kinds", r.Who.Kinds},
	} {
		if one.values != nil {
			parts = append(parts, one.key+": "+strings.Join(one.values, ", "))
		}
	}
	for _, one := range []struct {
		key   string
		value *bool
	}{
		{"readOnly", r.Hints.ReadOnly}, {"destructive", r.Hints.Destructive}, {"idempotent", r.Hints.Idempotent},
		{"openWorld", r.Hints.OpenWorld},
	} {
		if one.value != nil {
			parts = append(parts, fmt.Sprint(one.key, ": ", *one.value))
		}
	}
	return strings.Join(parts, "; ")
}

// PolicyQuestion asks what would be decided about a call.
type PolicyQuestion struct {
	Tool      string          `json:"tool"`
	Profile   string          `json:"profile"` // "": the caller's own
	As        PolicyCaller    `json:"as"`
	Arguments json.RawMessage `json:"arguments"` // nil: not known yet, as in lists
}

// PolicyCaller is somebody who is known here, or made up.
type PolicyCaller struct {
	Who    string      `json:"who"`  // key:NAME or user:NAME, by name or id; "": nobody who is known
	Kind   access.Kind `json:"kind"` // this and the rest replace what is known of them
	Client string      `json:"client"`
	Groups []string    `json:"groups"`
	Scopes []string    `json:"scopes"`
}

// PolicyAnswer is what would be decided, and why.
type PolicyAnswer struct {
	Tool    string         `json:"tool"`
	Profile string         `json:"profile"`
	Who     policy.Who     `json:"who"`
	Verdict policy.Verdict `json:"verdict"`
	Rule    string         `json:"rule,omitempty"` // that decided; "": none, or the profile's default
	Told    string         `json:"told,omitempty"` // what the caller would be told; "": nothing
	Note    string         `json:"note,omitempty"`
	Fitted  *Fitted        `json:"fitted,omitempty"` // absent when the arguments would go out as they came
	Rules   []RuleOutcome  `json:"rules"`
}

// RuleOutcome is what a rule says about a call.
type RuleOutcome struct {
	Name    string         `json:"name"`
	Says    string         `json:"says"`
	Watch   bool           `json:"watch,omitempty"`
	Outcome policy.Outcome `json:"outcome"`
	Error   string         `json:"error,omitempty"`
}

func (a *API) explainPolicy(q *request) (any, error) {
	var in PolicyQuestion
	if err := q.decode(&in, `{"tool", "profile", "as", "arguments"}`); err != nil {
		return nil, err
	}
	return a.ExplainPolicy(q.Context(), q.who, in)
}

// ExplainPolicy says what would be decided about a call. Nothing is sent.
func (a *API) ExplainPolicy(ctx context.Context, who access.Principal, in PolicyQuestion) (PolicyAnswer, error) {
	if err := needAdmin(who); err != nil {
		return PolicyAnswer{}, err
	}
	if in.Tool == "" {
		return PolicyAnswer{}, fault.New(fault.BadRequest, "the question has no tool").WithHint("give its name, such as server__tool")
	}
	as, err := a.caller(ctx, in.As)
	if err != nil {
		return PolicyAnswer{}, err
	}
	req := call.Request{Principal: as, Reader: call.Model}
	if req.Profile, err = as.ProfileFor(in.Profile); err != nil {
		return PolicyAnswer{}, err
	}
	if _, err := a.Catalog.ViewFor(who, req.Profile); err != nil { // the one who asks must see it too
		return PolicyAnswer{}, err
	}
	if rawjson.IsNull(in.Arguments) {
		in.Arguments = nil
	}
	if req.Params, err = call.NewParams(in.Tool, in.Arguments); err != nil {
		return PolicyAnswer{}, err
	}
	e, err := a.Caller.Explain(ctx, req)
	if err != nil {
		return PolicyAnswer{}, err
	}
	return answerOf(&e), nil
}

func answerOf(e *call.Explanation) PolicyAnswer {
	out := PolicyAnswer{
		Tool: string(e.Tool.Name), Profile: e.Profile, Who: e.Who, Verdict: e.Decision.Verdict, Told: call.Told(&e.Decision, e.Tool),
		Fitted: showFitted(&e.Fitted), Rules: []RuleOutcome{},
	}
	if e.Decision.Rule != nil {
		out.Rule = e.Decision.Rule.Name
	}
	switch {
	case e.Own:
		out.Note = "it is a tool of toolfit itself, which rules do not govern; the calls that it makes are decided about"
	case e.Refused != nil:
		out.Note = "the arguments would be refused: " + e.Refused.Message
		out.Told = cmp.Or(out.Told, e.Refused.Message)
	case e.Decision.Verdict == policy.Open:
		out.Note = "it depends on the arguments; lists show the tool"
	case e.Decision.Verdict == policy.Deny && e.Decision.Rule == nil:
		out.Note = "no rule allows it, and the profile has default: deny"
	case e.Decision.Verdict == policy.Deny && e.Args == nil:
		out.Note = "it is denied whatever the arguments are; lists do not show the tool"
	}
	for _, r := range e.Rules {
		one := RuleOutcome{Name: r.Rule.Name, Says: r.Rule.Says(), Watch: r.Rule.Watch, Outcome: r.Outcome}
		if r.Err != nil {
			one.Error = r.Err.Error()
		}
		out.Rules = append(out.Rules, one)
	}
	return out
}

// caller is the principal that a question is about.
func (a *API) caller(ctx context.Context, in PolicyCaller) (access.Principal, error) {
	p := access.Principal{Kind: access.KindUser, Role: access.Caller, Profile: access.AnyProfile}
	var groups []string
	kind, name, named := strings.Cut(in.Who, ":")
	switch {
	case in.Who == "":
	case kind == "key" && named:
		k, err := a.Store.Key(ctx, name)
		if err != nil {
			return p, err
		}
		p = access.Principal{ID: k.ID, Name: k.Name, Kind: access.KindKey, Role: access.Role(k.Role), Profile: k.Profile}
	case kind == "user" && named:
		one, err := a.Store.FindPerson(ctx, name)
		if err != nil {
			return p, err
		}
		p = access.Principal{ID: one.ID, Name: one.Name, Kind: access.Kind(one.Kind), Role: access.Role(one.Role), Profile: one.Profile}
		groups = one.Groups
	default:
		return p, fault.New(fault.BadRequest, "%.100q names nobody", in.Who).WithHint("use key:NAME or user:NAME")
	}
	switch in.Kind {
	case "":
	case access.KindLocal, access.KindKey, access.KindUser, access.KindService:
		p.Kind = in.Kind
	default:
		return p, fault.New(fault.BadRequest, "%.100q is no kind of caller", in.Kind).WithHint("use user, service, key or local")
	}
	if in.Groups != nil {
		groups = in.Groups
	}
	if groups != nil || in.Scopes != nil || in.Client != "" {
		p.Token = &access.Identity{Client: in.Client, Groups: groups, Scopes: in.Scopes}
	}
	return p, nil
}
