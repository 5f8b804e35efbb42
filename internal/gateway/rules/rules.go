// Package rules judges the result rules of the store by the record of calls: a rule whose
// results are too often fetched in full, or that no longer matches, goes back to shadow. It only decides;
// storing the decision is up to the caller.
//
//	judge := rules.Judge{Calls: st.Calls, Count: caller.RuleCount, Catalog: tools, Profiles: profiles}
//	doc, err := judge.Demote(ctx, row, "shop__list_orders")
package rules

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/project/suggest"
	"github.com/toolfit/toolfit/internal/gateway/call"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
)

// Document is the body of a stored rule.
type Document struct {
	Rule   json.RawMessage `json:"rule"`             // with the keys of the configuration file
	Output string          `json:"output,omitempty"` // Judge.Output when the rule was written
	Why    string          `json:"why,omitempty"`    // why it was put back to shadow
	Undo   *Undo           `json:"undo,omitempty"`   // nil: it is not a suggestion that somebody accepted
}

// Undo is what was stored before somebody accepted a suggestion.
type Undo struct {
	Was json.RawMessage `json:"was,omitempty"` // the body, with what was before that; nil: nothing
}

// maxCalls limits the calls that a rule is judged by; the newest count.
const maxCalls = 10_000

// Judge has what rules are judged by. All fields are needed.
type Judge struct {
	Calls    func(context.Context, store.CallFilter) ([]store.Call, error)
	Count    func(rule string) call.RuleCount
	Catalog  *catalog.Catalog
	Profiles func() []config.Profile
}

// Demote returns the document that puts the rule back to shadow; nil if it may stay on. The
// name is that of the rule's tool.
func (j *Judge) Demote(ctx context.Context, row store.Document, name string) (*Document, error) {
	var doc Document
	if json.Unmarshal(row.Body, &doc) != nil {
		return nil, nil // already reported when it was loaded
	}
	use, err := j.use(ctx, row)
	if err != nil {
		return nil, err
	}
	output := j.Output(name)
	use.SchemaChanged = doc.Output != "" && output != "" && output != doc.Output
	demote, why := suggest.Judge(use)
	if !demote {
		return nil, nil
	}
	doc.Rule = mcp.With(mcp.Without(doc.Rule, "mode"), "mode", []byte(`"shadow"`))
	doc.Why = why
	return &doc, nil
}

// use is how the rule has worked since it was last changed. The record has how often it cut and
// what was fetched; results that it did not match are counted only in this process.
func (j *Judge) use(ctx context.Context, row store.Document) (suggest.Use, error) {
	use := suggest.Use{Mismatches: int(j.Count(row.ID).Mismatch)}
	use.Calls = use.Mismatches
	type handle struct{ owner, ref string }
	cut := map[handle]bool{}
	fetched := map[handle]bool{}
	f := store.CallFilter{Rule: row.ID, Since: row.UpdatedAt, Limit: 1000}
	for read := 0; read < maxCalls; {
		page, err := j.Calls(ctx, f)
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
		read += len(page)
		if len(page) < f.Limit {
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

// Output is a digest of the tool's output schema; "" if it is not known.
func (j *Judge) Output(name string) string {
	for _, p := range j.Profiles() {
		v, err := j.Catalog.View(p.Name)
		if err != nil {
			continue
		}
		if e := v.Named(tool.Name(name)); e != nil {
			return digest(e.Definition.OutputSchema())
		}
	}
	return ""
}

// digest is the same for schemas that differ only in the order of their members.
func digest(schema json.RawMessage) string {
	var v any
	if json.Unmarshal(schema, &v) != nil {
		return ""
	}
	sorted, _ := json.Marshal(v) // it was read from JSON
	sum := sha256.Sum256(sorted)
	return hex.EncodeToString(sum[:8])
}
