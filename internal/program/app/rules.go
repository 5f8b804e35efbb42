package app

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"sync/atomic"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/core/project"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
)

// rulebook is the rules for results, of all sources.
type rulebook struct {
	rows  []store.Document // what the store says; guarded by App.reloading
	state atomic.Pointer[[]restapi.RuleState]
}

// ruleDocument is a rule as the store has it.
type ruleDocument struct {
	Rule   json.RawMessage `json:"rule"`             // in the keys of the file
	Output string          `json:"output,omitempty"` // a digest of the tool's output schema when the rule was written
	Why    string          `json:"why,omitempty"`    // why it was put back to shadow
}

// validRule is what the ids of stored rules look like: they stand in URLs and metrics.
var validRule = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`)

// readRules reads the rules of the store. The caller holds reloading.
func (a *App) readRules(ctx context.Context) error {
	rows, err := a.Store.Rules(ctx)
	if err == nil {
		a.rules.rows = rows
	}
	return err
}

// withRules puts the rules of the store behind those of the file, and the built-in ones of
// its servers behind both. Of those with one id the first counts. The caller holds reloading.
func (a *App) withRules(cfg *config.Config) {
	var rules []project.Rule
	var states []restapi.RuleState
	taken := map[string]bool{}
	add := func(s restapi.RuleState) {
		if s.Problem == "" {
			s.Hidden = taken[s.ID]
			taken[s.ID] = true
		}
		if states = append(states, s); !s.Hidden && s.Problem == "" {
			rules = append(rules, s.Rule)
		}
	}
	for i, r := range cfg.Results {
		if r.ID == "" {
			r.ID = fmt.Sprintf("results[%d]", i)
		}
		add(restapi.RuleState{Rule: r})
	}
	for _, row := range a.rules.rows {
		add(readRule(row, cfg.Profiles))
	}
	for _, s := range cfg.Servers {
		for _, r := range builtinRules(s) {
			r.Source = project.Builtin
			add(restapi.RuleState{Rule: r})
		}
	}
	a.warnOfStored("rule", storedRules(a.Rules()), storedRules(states))
	cfg.Results = rules
	a.rules.state.Store(&states)
}

// readRule reads a rule of the store. One that cannot be used keeps no other from being used.
func readRule(row store.Document, profiles []config.Profile) restapi.RuleState {
	var doc ruleDocument
	err := json.Unmarshal(row.Body, &doc)
	s := restapi.RuleState{Why: doc.Why}
	if err == nil {
		s.Rule, err = config.ParseRule(doc.Rule, profiles)
	}
	if err != nil {
		s.Problem = fault.As(err).Error()
	}
	s.ID, s.Source = row.ID, project.Store
	return s
}

func storedRules(states []restapi.RuleState) (rows []storedRow) {
	for _, s := range states {
		if s.Source == project.Store {
			rows = append(rows, storedRow{s.ID, s.Problem, s.Hidden})
		}
	}
	return rows
}

// Rules are all rules for results, in the order of their sources. It is read-only.
func (a *App) Rules() []restapi.RuleState {
	if p := a.rules.state.Load(); p != nil {
		return *p
	}
	return nil
}

// SaveRule stores the rule that the JSON text describes, in the keys of the file, in place
// of an earlier one of that id, and puts it in force. An id of the file is a fault.Conflict.
func (a *App) SaveRule(ctx context.Context, id string, text []byte) error {
	if !validRule.MatchString(id) {
		return fault.New(fault.BadRequest, "%.100q is no id of a rule", id).WithHint("use letters, digits, dots, dashes and underscores")
	}
	a.reloading.Lock()
	defer a.reloading.Unlock()
	rule, err := config.ParseRule(text, a.file.Profiles)
	if err != nil {
		return err
	}
	if rule.ID != "" && rule.ID != id {
		return fault.New(fault.BadRequest, "the rule says that its id is %.100q, the path says %q", rule.ID, id)
	}
	if slices.ContainsFunc(a.file.Results, func(r project.Rule) bool { return r.ID == id }) {
		return fault.New(fault.Conflict, "the configuration file has a rule %s already", id).WithHint("choose another id, or edit the file")
	}
	return a.saveRule(ctx, store.Document{ID: id}, ruleDocument{Rule: text, Output: a.outputOf(rule.Tool)})
}

// saveRule stores a rule and puts it in force. The caller holds reloading.
func (a *App) saveRule(ctx context.Context, row store.Document, doc ruleDocument) (err error) {
	if row.Body, err = json.Marshal(doc); err != nil {
		return fmt.Errorf("encode rule %s: %w", row.ID, err)
	}
	if _, err := a.Store.SaveRule(ctx, row); err != nil {
		return err
	}
	return a.rulesChanged(ctx, row.ID)
}

// RemoveRule takes a rule out of the store and out of force. One of the file, and one that
// is built in, is a fault.Conflict; the warning says that such a one stays.
func (a *App) RemoveRule(ctx context.Context, id string) (warning string, err error) {
	a.reloading.Lock()
	defer a.reloading.Unlock()
	other := slices.IndexFunc(a.Rules(), func(s restapi.RuleState) bool { return s.ID == id && s.Source != project.Store })
	err = a.Store.DeleteRule(ctx, id)
	switch {
	case other >= 0 && fault.Is(err, fault.NotFound):
		return "", fault.New(fault.Conflict, "rule %s is not of the store", id).WithHint("edit the file; a rule there with this id and mode: off puts a built-in one out of force")
	case fault.Is(err, fault.NotFound):
		return "", fault.New(fault.NotFound, "there is no rule %.100q", id)
	case err != nil:
		return "", err
	case other >= 0:
		warning = "the file or the server has a rule of this id, which stays"
	}
	return warning, a.rulesChanged(ctx, id)
}

// rulesChanged puts in force what the store has now, and counts the rule anew. The caller
// holds reloading.
func (a *App) rulesChanged(ctx context.Context, id string) error {
	if err := a.readRules(ctx); err != nil {
		return err
	}
	a.Caller.ForgetRule(id)
	a.apply(a.file)
	a.tellRule(id)
	return nil
}

// tellRule tells listeners how a rule of the store stands now.
func (a *App) tellRule(id string) {
	for _, s := range a.Rules() {
		if s.ID == id && s.Source == project.Store {
			a.events.RuleChanged(restapi.ShowRule(s, a.Caller.RuleCount(id)))
			return
		}
	}
	a.events.RuleChanged(restapi.Rule{ID: id, Source: restapi.FromStore, Mode: project.Off, Reason: "it was deleted"})
}
