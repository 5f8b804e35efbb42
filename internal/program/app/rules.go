package app

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/repeat"
	"github.com/toolfit/toolfit/internal/core/project"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/gateway/rules"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/overlay"
	"github.com/toolfit/toolfit/internal/state/store"
)

// validRule is what the ids of stored rules look like: they are part of URLs and metrics.
var validRule = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`)

// ruleKind is the overlay of result rules.
func ruleKind(st *store.Store) overlay.Kind[project.Rule] {
	return overlay.Kind[project.Rule]{
		Name: "rule",
		ID:   func(r project.Rule) string { return r.ID },
		Rows: st.Rules,
		Parse: func(row store.Document, file *config.Config) (r project.Rule, err error) {
			var doc rules.Document
			if err := json.Unmarshal(row.Body, &doc); err != nil {
				return r, err
			}
			r, err = config.ParseRule(doc.Rule, file.Profiles)
			r.ID = row.ID
			r.Source = project.Store
			return r, err
		},
		Delete: st.DeleteRule,
		InFile: func(id string) error {
			return fault.New(fault.Conflict, "the configuration file has a rule %s already", id).WithHint("choose another id, or edit the file")
		},
		NotStored: func(id string) error {
			return fault.New(fault.Conflict, "rule %s is not in the store", id).
				WithHint("edit the file; a rule there with this id and mode: off puts a built-in one out of force")
		},
		Unknown: func(id string) error { return fault.New(fault.NotFound, "there is no rule %.100q", id) },
		Stays:   "the file or the server has a rule of this id, which stays",
	}
}

// withIDs gives the rules of the file that have no id one by their position.
func withIDs(rules []project.Rule) []project.Rule {
	rules = slices.Clone(rules)
	for i := range rules {
		if rules[i].ID == "" {
			rules[i].ID = fmt.Sprintf("results[%d]", i)
		}
	}
	return rules
}

// Rules returns all result rules: of the file, of the store, built in.
func (s *settings) Rules() []overlay.Entry[project.Rule] { return s.rules.Entries() }

// SaveRule stores the rule that the JSON text describes, in the keys of the file, replacing an
// earlier one of that id, and applies it. An id of the file is a fault.Conflict.
func (a *App) SaveRule(ctx context.Context, id string, text []byte) error {
	return a.putRule(ctx, id, text, func() (version int64, undo *rules.Undo) { return 0, nil })
}

// AcceptRule stores a suggested rule as SaveRule does, and keeps what it replaces for UndoRule.
func (a *App) AcceptRule(ctx context.Context, id string, text []byte) error {
	return a.putRule(ctx, id, text, func() (version int64, undo *rules.Undo) {
		e := a.rules.Find(id)
		if e == nil {
			return store.NoVersion, &rules.Undo{}
		}
		return e.Row.Version, &rules.Undo{Was: withoutOld(e.Row.Body)}
	})
}

// maxUndo limits what is kept of the changes before the last.
const maxUndo = 64 << 10

// withoutOld is the body of a rule, without what was before it if that is much.
func withoutOld(body json.RawMessage) json.RawMessage {
	var doc rules.Document
	if len(body) <= maxUndo || json.Unmarshal(body, &doc) != nil || doc.Undo == nil {
		return body
	}
	doc.Undo = nil
	short, _ := json.Marshal(doc) // it was read from JSON
	return short
}

// UndoRule puts back what AcceptRule has replaced, byte for byte.
func (a *App) UndoRule(ctx context.Context, id string) error {
	a.reloading.Lock()
	defer a.reloading.Unlock()
	var doc rules.Document
	e := a.rules.Find(id)
	if e == nil || json.Unmarshal(e.Row.Body, &doc) != nil || doc.Undo == nil {
		return fault.New(fault.Conflict, "nothing of the rule %.100q can be undone", id).WithHint("it was changed since; edit or delete it")
	}
	var err error
	if doc.Undo.Was == nil {
		_, err = a.rules.Delete(ctx, id)
	} else {
		_, err = a.Store.SaveRule(ctx, store.Document{ID: id, Version: e.Row.Version, Body: doc.Undo.Was})
	}
	if err == nil {
		_, err = a.rulesChanged(ctx)
	}
	return err
}

// putRule checks and stores a rule; replaces says which version of it, and how that is undone.
func (a *App) putRule(ctx context.Context, id string, text []byte, replaces func() (version int64, undo *rules.Undo)) error {
	if !validRule.MatchString(id) {
		return fault.New(fault.BadRequest, "%.100q is not a valid rule id", id).WithHint("use letters, digits, dots, dashes and underscores")
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
	if err := a.rules.CheckNotInFile(id); err != nil {
		return err
	}
	version, undo := replaces()
	return a.saveRule(ctx, store.Document{ID: id, Version: version}, rules.Document{Rule: text, Output: a.judge().Output(rule.Tool), Undo: undo})
}

// saveRule stores a rule and applies it. The caller holds reloading.
func (a *App) saveRule(ctx context.Context, row store.Document, doc rules.Document) (err error) {
	row.Body, err = json.Marshal(doc)
	if err != nil {
		return fmt.Errorf("encode rule %s: %w", row.ID, err)
	}
	if _, err := a.Store.SaveRule(ctx, row); err != nil {
		return err
	}
	_, err = a.rulesChanged(ctx)
	return err
}

// RemoveRule deletes a rule from the store and stops using it. One that only the file has or
// that is built in is a fault.Conflict; the warning says that such a one stays.
func (a *App) RemoveRule(ctx context.Context, id string) (warning string, err error) {
	return a.remove(ctx, id, a.rules.Delete, a.rulesChanged)
}

// rulesChanged applies what was changed in the store: it resets the counts of these rules
// and tells listeners about them. The caller holds reloading.
func (a *App) rulesChanged(ctx context.Context) (changed []string, err error) {
	changed, err = a.refresh(ctx, a.rules.Read)
	for _, id := range changed {
		a.Caller.ForgetRule(id)
		shown := restapi.Rule{ID: id, Source: restapi.FromStore, Mode: project.Off, Reason: "it was deleted"}
		if e := a.rules.Find(id); e != nil {
			shown = restapi.ShowRule(*e, a.Caller.RuleCount(id))
		}
		a.events.RuleChanged(shown)
	}
	return changed, err
}

// judge decides which rules go back to shadow.
func (a *App) judge() *rules.Judge {
	return &rules.Judge{
		Calls: a.Store.Calls, Count: a.Caller.RuleCount, Catalog: a.Catalog,
		Profiles: func() []config.Profile { return a.Config().Profiles },
	}
}

// judgeInterval is how often the rules of the store are judged.
const judgeInterval = 5 * time.Minute

func (a *App) judgeNowAndThen(ctx context.Context) {
	repeat.Every(ctx.Done(), judgeInterval, func() {
		if err := a.judgeRules(ctx); err != nil && ctx.Err() == nil {
			a.log.Error("rules of the store not judged", "error", err)
		}
	})
}

// judgeRules puts rules of the store that do more harm than good back to shadow.
func (a *App) judgeRules(ctx context.Context) error {
	a.reloading.Lock()
	defer a.reloading.Unlock()
	for _, e := range a.rules.Entries() {
		if e.Source != project.Store || e.Hidden || e.Problem != "" || e.Value.Mode != project.On {
			continue
		}
		doc, err := a.judge().Demote(ctx, e.Row, e.Value.Tool)
		if err != nil {
			return err
		}
		if doc == nil {
			continue
		}
		err = a.saveRule(ctx, store.Document{ID: e.ID, Version: e.Row.Version}, *doc)
		switch {
		case fault.Is(err, fault.Conflict): // another change came first
		case err != nil:
			return err
		default:
			a.log.Warn("a rule is back in shadow", "rule", e.ID, "why", doc.Why)
		}
	}
	return nil
}
