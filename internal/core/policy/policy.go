// Package policy decides whether a call may be made. Rules select calls by profile, caller, tool and hints, and look at the
// arguments with an expression in CEL. It never guesses: an expression that fails counts as matched in a rule that denies or asks,
// and as not matched in a rule that allows.
//
//	set, problems := policy.Compile([]policy.Rule{{Name: "no-prod", Tools: []string{"cloud__*"}, When: `args.env == "prod"`, Then: policy.Deny}})
//	d := set.Decide(&policy.Call{Profile: "default", Tool: t, Args: fitted})
//	if d.Verdict == policy.Deny { … }
//
// Without arguments a call is decided as far as that is possible: lists leave out only what is denied whatever the arguments are.
package policy

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/toolfit/toolfit/internal/base/tool"
)

// Verdict is what a rule says, and what is decided about a call.
type Verdict string

const (
	Allow   Verdict = "allow"
	Approve Verdict = "approve" // a person has to say yes
	Deny    Verdict = "deny"
	Open    Verdict = "open" // depends on arguments that are not known yet
)

// Rule is one rule as it was written. Selectors that are left out match everything.
type Rule struct {
	Name      string    `json:"name"`
	Profiles  []string  `json:"profiles,omitempty"`
	Who       Selector  `json:"who,omitzero"`
	Tools     []string  `json:"tools,omitempty"` // globs on canonical names
	Hints     Hints     `json:"hints,omitzero"`
	When      string    `json:"when,omitempty"` // CEL; "": always
	Then      Verdict   `json:"then,omitempty"` // "" with Limit or Repeats
	Limit     Limit     `json:"limit,omitzero"`
	Repeats   int       `json:"repeats,omitempty"` // how often in a row the same call may be made; 0: no rule about it
	Approvers *Approver `json:"approvers,omitempty"`
	Say       string    `json:"say,omitempty"`   // what the caller is told
	Watch     bool      `json:"watch,omitempty"` // it decides nothing, and records say what it would have done
	Line      int       `json:"line,omitempty"`  // in the configuration
}

// Limit is how many calls a caller may make in any period of the length.
type Limit struct {
	Count int           `json:"count"`
	Per   time.Duration `json:"per"`
}

// Says is what the rule does where it applies, as the configuration says it: deny, approve, allow, limit 20/h or repeats 3.
func (r *Rule) Says() string {
	switch {
	case r.Limit.Count > 0:
		units := map[time.Duration]string{time.Second: "s", time.Minute: "m", time.Hour: "h", 24 * time.Hour: "d"}
		return fmt.Sprintf("limit %d/%s", r.Limit.Count, units[r.Limit.Per])
	case r.Repeats > 0:
		return fmt.Sprint("repeats ", r.Repeats)
	}
	return string(r.Then)
}

// Approver says who may decide, besides administrators; nil: the person who asks.
type Approver struct {
	Groups []string `json:"groups,omitempty"`
	People []string `json:"people,omitempty"` // their ids
}

// Selector selects callers: one of each list that is given.
type Selector struct {
	Groups  []string `json:"groups,omitempty"`
	Scopes  []string `json:"scopes,omitempty"`
	Clients []string `json:"clients,omitempty"`
	Keys    []string `json:"keys,omitempty"` // names or ids
	Kinds   []string `json:"kinds,omitempty"`
}

// Hints select tools by what their servers say about them; nil: whatever they say.
type Hints struct {
	ReadOnly    *bool `json:"readOnly,omitempty"`
	Destructive *bool `json:"destructive,omitempty"`
	Idempotent  *bool `json:"idempotent,omitempty"`
	OpenWorld   *bool `json:"openWorld,omitempty"`
}

// Who is the caller.
type Who struct {
	ID     string   `json:"id,omitempty"`
	Name   string   `json:"name,omitempty"`
	Kind   string   `json:"kind"`
	Role   string   `json:"role"`
	Client string   `json:"client,omitempty"`
	Groups []string `json:"groups,omitempty"`
	Scopes []string `json:"scopes,omitempty"`
}

// Tool is what is called. A prompt has the kind "prompt". A resource has the kind "resource", the name SERVER__resource, and its
// address as args.uri; a skill likewise.
type Tool struct {
	Name                                         tool.Name
	Server                                       tool.ServerID
	Kind                                         string // tool, prompt, resource or skill
	ReadOnly, Destructive, Idempotent, OpenWorld bool
}

// Call is what is decided about.
type Call struct {
	Profile string
	Closed  bool // the profile demands a rule that allows the call
	Who     Who
	Tool    Tool
	Args    json.RawMessage // as the server will get them; nil: not known yet
	Now     time.Time
	AnyTime bool // decided for any time, whatever Now is; so is a call without arguments
}

// Decision is what the rules say about a call.
type Decision struct {
	Verdict Verdict
	Rule    *Rule   // that decided; nil: none did, or the profile's default did
	Denies  []*Rule // all that deny it
	Asks    []*Rule // all that want a person's yes
	Limits  []*Rule // those with limit or repeats that the call counts for
	Watched []*Rule // those that are only watched, and apply
	Failed  error   // of an expression, wrapped with its rule's name; nil: none failed
}

// Outcome is what a rule says about a call.
type Outcome string

const (
	True     Outcome = "true"
	False    Outcome = "false"
	Unknown  Outcome = "unknown" // it depends on arguments that are not known
	Failed   Outcome = "error"
	NotMeant Outcome = "not selected"
)

// Explained is a rule with its outcome.
type Explained struct {
	Rule    *Rule
	Outcome Outcome
	Err     error // of a rule that failed, without its name
}

// Applies tells whether the rule counts for the call: one that fails does, unless it allows.
func (e *Explained) Applies() bool {
	return e.Outcome == True || e.Outcome == Failed && e.Rule.Then != Allow
}

// Set is the compiled rules. It is immutable; nil has no rules.
type Set struct {
	rules []*compiled
	seen  map[string]bool // members of who that rules look at
}

// Signature is the same for callers between whom no rule makes a difference.
func (s *Set) Signature(w *Who) string {
	if s == nil {
		return ""
	}
	b := make([]byte, 0, 128)
	add := func(member string, values ...string) {
		if s.seen[member] {
			for _, value := range values {
				b = strconv.AppendQuote(b, value)
			}
			b = append(b, ',')
		}
	}
	add("id", w.ID)
	add("name", w.Name)
	add("kind", w.Kind)
	add("role", w.Role)
	add("client", w.Client)
	add("groups", w.Groups...)
	add("scopes", w.Scopes...)
	return string(b)
}

// Rules returns the rules in their order.
func (s *Set) Rules() (rules []*Rule) {
	if s != nil {
		for _, c := range s.rules {
			rules = append(rules, &c.Rule)
		}
	}
	return rules
}

// Decide decides about a call: denied if a rule denies it, or if the profile demands a rule that allows it and there is none; else
// asked about if a rule says so; else allowed. The order of the rules does not matter.
func (s *Set) Decide(c *Call) Decision {
	t := tally{allowed: !c.Closed}
	vars := s.bind(c)
	for _, r := range vars.rules {
		t.add(&r.Rule, r.eval(vars))
	}
	return t.decision()
}

// Explain is Decide with what each rule says.
func (s *Set) Explain(c *Call) (Decision, []Explained) {
	t := tally{allowed: !c.Closed}
	vars := s.bind(c)
	var all []Explained
	for _, r := range s.Rules() {
		all = append(all, Explained{Rule: r, Outcome: NotMeant})
	}
	for _, r := range vars.rules {
		o := r.eval(vars)
		at := slices.IndexFunc(all, func(e Explained) bool { return e.Rule == &r.Rule })
		all[at] = Explained{&r.Rule, o.Outcome, errors.Unwrap(o.err)}
		t.add(&r.Rule, o)
	}
	return t.decision(), all
}

// tally adds up what the rules say.
type tally struct {
	Decision
	allowed, mayAllow, mayDeny, mayAsk bool
}

func (t *tally) add(r *Rule, o outcome) {
	if o.err != nil && t.Failed == nil {
		t.Failed = o.err
	}
	applies := (&Explained{Rule: r, Outcome: o.Outcome}).Applies()
	switch {
	case applies && r.Watch:
		t.Watched = append(t.Watched, r)
	case r.Watch:
	case r.Then == "":
		if applies {
			t.Limits = append(t.Limits, r)
		}
	case r.Then == Allow:
		t.allowed = t.allowed || applies
		t.mayAllow = t.mayAllow || o.Outcome == Unknown
	case r.Then == Deny:
		if applies {
			t.Denies = append(t.Denies, r)
		}
		t.mayDeny = t.mayDeny || o.Outcome == Unknown
	default:
		if applies {
			t.Asks = append(t.Asks, r)
		}
		t.mayAsk = t.mayAsk || o.Outcome == Unknown
	}
}

func (t *tally) decision() Decision {
	d := t.Decision
	switch {
	case len(d.Denies) > 0:
		d.Verdict, d.Rule = Deny, d.Denies[0]
	case !t.allowed && !t.mayAllow:
		d.Verdict = Deny
	case !t.allowed || t.mayDeny || t.mayAsk && len(d.Asks) == 0:
		d.Verdict = Open
	case len(d.Asks) > 0:
		d.Verdict, d.Rule = Approve, d.Asks[0]
	default:
		d.Verdict = Allow
	}
	return d
}

// selects tells whether the rule is about such a call, without looking at its expression.
func (r *Rule) selects(c *Call) bool {
	matches := func(glob string) bool { return tool.Match(glob, string(c.Tool.Name)) }
	return (r.Profiles == nil || slices.Contains(r.Profiles, c.Profile)) &&
		(r.Tools == nil || slices.ContainsFunc(r.Tools, matches)) &&
		r.Hints.match(&c.Tool) && r.Who.Match(&c.Who)
}

// Of is the tool with these hints. Those that are missing are the protocol's defaults.
func (h *Hints) Of(t Tool) Tool {
	or := func(given *bool, missing bool) bool {
		if given != nil {
			return *given
		}
		return missing
	}
	t.ReadOnly = or(h.ReadOnly, false)
	t.Destructive = or(h.Destructive, !t.ReadOnly)
	t.Idempotent = or(h.Idempotent, t.ReadOnly)
	t.OpenWorld = or(h.OpenWorld, true)
	return t
}

func (h *Hints) match(t *Tool) bool {
	is := func(want *bool, got bool) bool { return want == nil || *want == got }
	return is(h.ReadOnly, t.ReadOnly) && is(h.Destructive, t.Destructive) && is(h.Idempotent, t.Idempotent) && is(h.OpenWorld, t.OpenWorld)
}

// Match tells whether the selector means the caller.
func (s *Selector) Match(w *Who) bool {
	common := func(want, got []string) bool {
		return want == nil || slices.ContainsFunc(got, func(g string) bool { return slices.Contains(want, g) })
	}
	return common(s.Groups, w.Groups) && common(s.Scopes, w.Scopes) &&
		(s.Clients == nil || slices.Contains(s.Clients, w.Client)) &&
		(s.Kinds == nil || slices.Contains(s.Kinds, w.Kind)) &&
		(s.Keys == nil || w.Kind == "key" && (slices.Contains(s.Keys, w.Name) || slices.Contains(s.Keys, w.ID)))
}

// members are what the selector looks at.
func (s *Selector) members() (names []string) {
	add := func(list []string, members ...string) {
		if list != nil {
			names = append(names, members...)
		}
	}
	add(s.Groups, "groups")
	add(s.Scopes, "scopes")
	add(s.Clients, "client")
	add(s.Kinds, "kind")
	add(s.Keys, "kind", "name", "id")
	return names
}
