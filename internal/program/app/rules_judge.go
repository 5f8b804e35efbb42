package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/project"
	"github.com/toolfit/toolfit/internal/core/project/suggest"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/gateway/call"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/store"
)

const (
	// followEvery is how often the rules of the store are read: others change them too.
	followEvery = 15 * time.Second
	// judgeEvery is how often it is seen how the rules of the store fare.
	judgeEvery = 5 * time.Minute
	// maxJudged bounds the calls that a rule is judged by: the newest.
	maxJudged = 10_000
)

// followRules keeps to the rules of the store, and puts those back to shadow of whose
// results too much is fetched, until ctx ends.
func (a *App) followRules(ctx context.Context) {
	follow, judge := time.NewTicker(followEvery), time.NewTicker(judgeEvery)
	defer follow.Stop()
	defer judge.Stop()
	for {
		var err error
		select {
		case <-ctx.Done():
			return
		case <-follow.C:
			err = errors.Join(a.rereadRules(ctx), a.rereadAgents(ctx))
		case <-judge.C:
			err = a.judgeRules(ctx)
		}
		if err != nil && ctx.Err() == nil {
			a.log.Error("rules and agents of the store not followed", "error", err)
		}
	}
}

// rereadRules puts in force what others have changed in the store.
func (a *App) rereadRules(ctx context.Context) error {
	a.reloading.Lock()
	defer a.reloading.Unlock()
	before := a.rules.rows
	if err := a.readRules(ctx); err != nil {
		return err
	}
	version := func(rows []store.Document) map[string]int64 {
		m := map[string]int64{}
		for _, row := range rows {
			m[row.ID] = row.Version
		}
		return m
	}
	was, is := version(before), version(a.rules.rows)
	var changed []string
	for id, v := range is {
		if was[id] != v {
			changed = append(changed, id)
		}
	}
	for id := range was {
		if _, stays := is[id]; !stays {
			changed = append(changed, id)
		}
	}
	if len(changed) == 0 {
		return nil
	}
	slices.Sort(changed)
	a.apply(a.file)
	for _, id := range changed {
		a.Caller.ForgetRule(id)
		a.tellRule(id)
	}
	a.log.Info("rules of the store were changed", "rules", strings.Join(changed, " "))
	return nil
}

// judgeRules puts rules of the store that do more harm than good back to shadow.
func (a *App) judgeRules(ctx context.Context) error {
	a.reloading.Lock()
	defer a.reloading.Unlock()
	for _, row := range slices.Clone(a.rules.rows) {
		i := slices.IndexFunc(a.Rules(), func(s restapi.RuleState) bool { return s.ID == row.ID && s.Source == project.Store })
		if i < 0 {
			continue
		}
		if s := a.Rules()[i]; s.Hidden || s.Problem != "" || s.Mode != project.On {
			continue
		}
		if err := a.judgeRule(ctx, row, a.Rules()[i].Tool); err != nil {
			return err
		}
	}
	return nil
}

// judgeRule judges one rule. The caller holds reloading.
func (a *App) judgeRule(ctx context.Context, row store.Document, name string) error {
	var doc ruleDocument
	if err := json.Unmarshal(row.Body, &doc); err != nil {
		return nil // it was said when it was read
	}
	use, err := a.useOf(ctx, row)
	if err != nil {
		return err
	}
	now := a.outputOf(name)
	use.SchemaChanged = doc.Output != "" && now != "" && now != doc.Output
	off, why := suggest.Judge(use)
	if !off {
		return nil
	}
	doc.Rule = mcp.With(mcp.Without(doc.Rule, "mode"), "mode", []byte(`"shadow"`))
	doc.Why = why
	err = a.saveRule(ctx, store.Document{ID: row.ID, Version: row.Version}, doc)
	if fault.Is(err, fault.Conflict) {
		return nil // somebody was faster
	}
	if err == nil {
		a.log.Warn("a rule is back in shadow", "rule", row.ID, "why", why)
	}
	return err
}

// useOf is how a rule has fared since it was last changed. The record says how often it
// cut and what was fetched; results that it did not fit were counted here.
func (a *App) useOf(ctx context.Context, row store.Document) (suggest.Use, error) {
	use := suggest.Use{Mismatches: int(a.Caller.RuleCount(row.ID).Mismatch)}
	use.Calls = use.Mismatches
	type handle struct{ owner, ref string }
	cut, fetched := map[handle]bool{}, map[handle]bool{}
	f := store.CallFilter{Rule: row.ID, Since: row.UpdatedAt, Limit: 1000}
	for read := 0; read < maxJudged; {
		page, err := a.Store.Calls(ctx, f)
		if err != nil {
			return use, err
		}
		for _, c := range page {
			h := handle{c.Principal, c.Ref}
			if c.Tool == call.FetchResult {
				fetched[h] = true
				continue
			}
			use.Calls++
			cut[h] = true
		}
		if read += len(page); len(page) < f.Limit {
			break
		}
		f.Before = page[len(page)-1].ID
	}
	for h := range fetched {
		if cut[h] {
			use.Fetched++
		}
	}
	return use, nil
}

// outputOf is a digest of what the tool promises to answer; "" when that is not known.
func (a *App) outputOf(name string) string {
	for _, p := range a.Config().Profiles {
		v, err := a.Catalog.View(p.Name)
		if err != nil {
			continue
		}
		if e := v.Named(tool.Name(name)); e != nil {
			return digest(e.Definition.OutputSchema())
		}
	}
	return ""
}

// digest stands for a schema, in whatever order its members come.
func digest(schema json.RawMessage) string {
	var v any
	if json.Unmarshal(schema, &v) != nil {
		return ""
	}
	sorted, _ := json.Marshal(v) // it was read from JSON
	sum := sha256.Sum256(sorted)
	return hex.EncodeToString(sum[:8])
}
