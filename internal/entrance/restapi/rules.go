package restapi

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/core/project"
	"github.com/toolfit/toolfit/internal/core/project/shape"
	"github.com/toolfit/toolfit/internal/gateway/call"
	"github.com/toolfit/toolfit/internal/gateway/rules"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/overlay"
)

// Rulebook knows the rules for results, and changes those of the store.
type Rulebook interface {
	// Rules returns all rules, in the order of their sources. It is read-only.
	Rules() []overlay.Entry[project.Rule]
	// SaveRule stores the rule that the JSON text describes and activates it.
	SaveRule(ctx context.Context, id string, text []byte) error
	// AcceptRule stores a suggested rule as SaveRule does, and keeps what it replaces.
	AcceptRule(ctx context.Context, id string, text []byte) error
	// UndoRule puts back what AcceptRule has replaced.
	UndoRule(ctx context.Context, id string) error
	// RemoveRule deletes a stored rule; the warning says what stays.
	RemoveRule(ctx context.Context, id string) (warning string, err error)
}

// Rule is a rule for results as the API shows it.
type Rule struct {
	ID      string         `json:"id"`
	Source  Source         `json:"source"`
	Tool    string         `json:"tool"`
	When    map[string]any `json:"when,omitempty"`
	Keep    string         `json:"keep,omitempty"`
	Drop    string         `json:"drop,omitempty"`
	JQ      string         `json:"jq,omitempty"`
	Budget  int            `json:"budget,omitempty"`
	Shape   shape.Mode     `json:"shape,omitempty"`
	Mode    project.Mode   `json:"mode"`
	Profile string         `json:"profile,omitempty"`
	Reason  string         `json:"reason,omitempty"` // why it is not in force, or was put back to shadow
	Counts  RuleCounts     `json:"counts"`
	Undo    *RuleBefore    `json:"-"` // what was before a suggestion was accepted; nil: it is not one
}

// RuleBefore is what undoing an accepted suggestion brings back.
type RuleBefore struct {
	Mode project.Mode // "": there was no rule
	Text string       // its mask or jq program
}

// RuleCounts counts results by what the rule did, since the gateway started or the rule changed.
type RuleCounts struct {
	Projected  int64 `json:"projected"`
	Whole      int64 `json:"whole"`
	Mismatch   int64 `json:"shape_mismatch"`
	Failed     int64 `json:"projection_failed"`
	Shadowed   int64 `json:"shadow"`
	Fetched    int64 `json:"fetched"`
	TokensFull int64 `json:"tokens_full"` // estimates, of what was cut or would have been
	TokensSent int64 `json:"tokens_sent"`
}

func ShowRule(e overlay.Entry[project.Rule], n call.RuleCount) Rule {
	var doc rules.Document
	_ = json.Unmarshal(e.Row.Body, &doc) // if it cannot be read, the entry has a problem
	v := e.Value
	r := Rule{
		ID: e.ID, Source: sources[e.Source], Tool: v.Tool, When: v.When, Keep: v.Keep, Drop: v.Drop, JQ: v.JQ, Budget: v.Budget,
		Shape: v.Shape, Mode: cmp.Or(v.Mode, project.On), Profile: v.Profile, Reason: doc.Why, Undo: before(doc.Undo),
	}
	switch {
	case e.Problem != "":
		r.Reason = e.Problem
	case e.Hidden:
		r.Reason = "another rule of this id counts before it"
		return r
	}
	r.Counts = RuleCounts(n)
	return r
}

func before(u *rules.Undo) *RuleBefore {
	if u == nil {
		return nil
	}
	var was rules.Document
	var rule struct {
		Mode           project.Mode
		Keep, Drop, JQ string
	}
	if u.Was == nil || json.Unmarshal(u.Was, &was) != nil || json.Unmarshal(was.Rule, &rule) != nil {
		return &RuleBefore{}
	}
	return &RuleBefore{cmp.Or(rule.Mode, project.On), cmp.Or(rule.Keep, rule.Drop, rule.JQ)}
}

// ListRules returns all rules, in the order of their sources.
func (a *API) ListRules(who access.Principal) ([]Rule, error) {
	if !who.MayRead() {
		return nil, who.Forbidden("%s may not read the rules")
	}
	list := []Rule{}
	for _, e := range a.Rules.Rules() {
		list = append(list, ShowRule(e, a.Caller.RuleCount(e.ID)))
	}
	return list, nil
}

type RuleList struct {
	Rules []Rule `json:"rules"`
}

// SaveRule stores the rule that the JSON text describes and activates it.
func (a *API) SaveRule(ctx context.Context, who access.Principal, id string, text []byte) (Rule, error) {
	if err := needAdmin(who); err != nil {
		return Rule{}, err
	}
	if err := a.Rules.SaveRule(ctx, id, text); err != nil {
		return Rule{}, err
	}
	for _, e := range a.Rules.Rules() {
		if e.ID == id && e.Source == project.Store {
			return ShowRule(e, a.Caller.RuleCount(id)), nil
		}
	}
	return Rule{}, fault.New(fault.Conflict, "rule %s was deleted meanwhile", id)
}

// DeleteRule deletes a stored rule; the warning says what stays.
func (a *API) DeleteRule(ctx context.Context, who access.Principal, id string) (warning string, err error) {
	if err := needAdmin(who); err != nil {
		return "", err
	}
	return a.Rules.RemoveRule(ctx, id)
}

// AcceptRule stores a suggested rule; what was stored under its id comes back with UndoRule.
func (a *API) AcceptRule(ctx context.Context, who access.Principal, id string, text []byte) error {
	if err := needAdmin(who); err != nil {
		return err
	}
	return a.Rules.AcceptRule(ctx, id, text)
}

// UndoRule puts back what was stored before somebody accepted a suggestion.
func (a *API) UndoRule(ctx context.Context, who access.Principal, id string) error {
	if err := needAdmin(who); err != nil {
		return err
	}
	return a.Rules.UndoRule(ctx, id)
}
