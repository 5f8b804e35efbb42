package call

import (
	"context"
	"encoding/json"
	"time"

	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/project"
	"github.com/toolfit/toolfit/internal/core/project/seen"
	"github.com/toolfit/toolfit/internal/core/prompt"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/internal/state/store"
)

// ResultType is the type of a tool's results, as project.Value reads them.
type ResultType struct {
	Type string `json:"type"`           // as TypeScript
	Seen int    `json:"seen,omitempty"` // results that it was inferred from; 0: the server declares it

	schema json.RawMessage
}

const (
	leastSeen = 3       // results that a type is inferred from
	mostSeen  = 50      // the newest ones
	seenBytes = 8 << 20 // of them together
	maxTyped  = 2000    // tools whose types are held
	typeFresh = 5 * time.Minute
	maxHeads  = 1000 // results that are looked through for tools that have some
)

// heldType is the type of a tool's results as it was last inferred.
type heldType struct {
	typ  *ResultType // nil: too few results
	done chan struct{}
	old  time.Time // when it is inferred again
}

// ResultType returns the type of a tool's results: declared by its server, else inferred from stored results of all callers, of which
// it has names and kinds only. nil: it is not known.
func (c *Caller) ResultType(ctx context.Context, v *catalog.View, e *catalog.Entry) *ResultType {
	if declared := e.Definition.OutputSchema(); declared != nil {
		return &ResultType{Type: prompt.TypeOf(declared), schema: declared}
	}
	if e.Own || v.Results.Keep == "none" || c.opts.PastResults == nil {
		return nil
	}
	var t *heldType
	first := false
	c.types.do(string(e.Name), func(held **heldType) {
		if *held == nil || c.opts.Now().After((*held).old) {
			*held = &heldType{done: make(chan struct{}), old: c.opts.Now().Add(typeFresh)}
			first = true
		}
		t = *held
	})
	if first {
		t.typ = c.inferType(context.WithoutCancel(ctx), e.Name) // others wait for it too
		close(t.done)
		if t.typ == nil { // the next call may be the third
			c.types.drop(string(e.Name))
		}
	}
	select {
	case <-t.done:
		return t.typ
	case <-ctx.Done():
		return nil
	}
}

func (c *Caller) inferType(ctx context.Context, name tool.Name) *ResultType {
	var values [][]byte
	heads, err := c.opts.PastResults(ctx, store.ResultFilter{Tool: string(name), Limit: mostSeen, Heads: true})
	room := int64(seenBytes)
	for _, h := range heads {
		if h.Size > room {
			continue
		}
		room -= h.Size
		var list []store.Result
		if list, err = c.opts.PastResults(ctx, store.ResultFilter{Owner: h.Owner, Ref: h.Ref, Limit: 1}); err != nil {
			break
		}
		for _, r := range list {
			if value := project.Value(r.Body); r.Err == nil && value != nil && !isToolError(r.Body) {
				values = append(values, value)
			}
		}
	}
	if err != nil {
		c.opts.Logger.Warn("the results of a tool have no type for a while", "tool", name, "error", err)
	}
	if len(values) < leastSeen {
		return nil
	}
	schema := seen.Infer(values).Schema()
	return &ResultType{Type: prompt.TypeOf(schema), Seen: len(values), schema: schema}
}

// resultTypes are the inferred types of a view's tools, by shown name.
func (c *Caller) resultTypes(ctx context.Context, v *catalog.View) map[string]*ResultType {
	found := map[string]*ResultType{}
	if v.Results.Keep == "none" || c.opts.PastResults == nil {
		return found
	}
	heads, err := c.opts.PastResults(ctx, store.ResultFilter{Limit: maxHeads, Heads: true})
	if err != nil {
		c.opts.Logger.Warn("a prompt has no types of results", "error", err)
	}
	count := map[tool.Name]int{}
	for _, h := range heads {
		count[h.Tool]++
		if e := v.Named(h.Tool); count[h.Tool] == leastSeen && e != nil {
			if t := c.ResultType(ctx, v, e); t != nil && t.Seen > 0 {
				found[e.Shown] = t
			}
		}
	}
	return found
}

// Declaration declares a tool in TypeScript as a script calls it, with the types of its arguments and results.
func (c *Caller) Declaration(ctx context.Context, v *catalog.View, e *catalog.Entry) string {
	t := e.PromptTool()
	if typ := c.ResultType(ctx, v, e); typ != nil {
		t.Result, t.Seen = typ.schema, typ.Seen
	}
	object, method := e.InScripts()
	return prompt.DeclarationOf(&t, object, method)
}
