package call

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/prompt"
	"github.com/toolfit/toolfit/internal/core/tokens"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/store"
	"github.com/toolfit/toolfit/schema"
)

// PromptRequest asks for the tools of a profile as text.
type PromptRequest struct {
	Principal access.Principal
	Profile   string
	Session   string // a later text of the session only adds to the earlier one; "": no session
	Variant   Variant
}

// Variant is how tools are written.
type Variant struct {
	Format   prompt.Format  // "": TypeScript
	Budget   int            // limit in estimated tokens; 0: none
	Dialect  schema.Dialect // of the format json; "": openai
	Language string         // a language tag; "": as the servers wrote
	Groups   bool           // with a line for each server and tag
}

func (v Variant) check() error {
	switch v.Format {
	case "", prompt.TypeScript, prompt.Signature, prompt.Markdown, prompt.JSON:
	default:
		return fault.New(fault.BadRequest, "unknown format %.40q", string(v.Format)).WithHint("choose ts, md, sig or json")
	}
	if v.Budget < 0 {
		return fault.New(fault.BadRequest, "budget must be a number of tokens")
	}
	if v.Dialect == "" {
		return nil
	}
	return catalog.CheckDialect(v.Dialect)
}

// Limits of the cached sessions and the texts of each: a plan of thousands of tools is large.
const (
	maxPages    = 256
	maxVariants = 4
)

// written is what a session was sent, so that the next text begins with the same bytes.
type written struct {
	plan     prompt.Plan
	examples map[string]json.RawMessage // by shown name
	types    map[string]*ResultType     // of results, inferred; by shown name
}

// Prompt writes the tools that the caller sees in a profile: the same bytes for the same tools.
func (c *Caller) Prompt(ctx context.Context, req PromptRequest) (*prompt.Page, error) {
	if err := req.Variant.check(); err != nil {
		return nil, err
	}
	view, err := c.tools.Listed(ctx, req.Profile)
	if err != nil {
		return nil, err
	}
	view = view.As(req.Principal)
	before := c.before(req)
	if before.examples == nil && view.Examples {
		if before.examples, err = c.examples(ctx, view, req.Principal.ID); err != nil {
			return nil, err
		}
	}
	if before.types == nil && (req.Variant.Format == "" || req.Variant.Format == prompt.TypeScript) {
		before.types = c.resultTypes(ctx, view)
	}
	recent := c.recent(view, req.Session)
	write := func() (*prompt.Page, error) { return writePrompt(view, req.Variant, before, recent) }
	var page *prompt.Page
	if len(before.plan) == 0 && len(before.examples) == 0 && len(recent) == 0 { // the same for everybody
		page, err = view.Written(fmt.Sprintf("%s %x", req.key(), sha256.Sum256(rawjson.Encode(before.types))), write)
	} else {
		page, err = write()
	}
	if err != nil {
		return nil, err
	}
	c.sent(req, written{page.Plan, before.examples, before.types})
	return page, nil
}

// writePrompt writes the tools after what the session was sent before, with those that it called last in full.
func writePrompt(view *catalog.View, v Variant, before written, recent []string) (*prompt.Page, error) {
	list := view.PromptTools()
	for i := range list {
		if list[i].Example == nil {
			list[i].Example = before.examples[list[i].Name]
		}
		if t := before.types[list[i].Name]; t != nil {
			list[i].Result, list[i].Seen = t.schema, t.Seen
		}
	}
	return prompt.Render(list, &prompt.Options{
		Format: v.Format, Budget: v.Budget, Count: tokens.Estimate[[]byte], Pinned: view.Pinned(), Recent: recent,
		Previous: before.plan, Language: v.Language, Dialect: v.Dialect, Groups: v.Groups,
	})
}

// key tells the texts of one session apart.
func (r *PromptRequest) key() string { return fmt.Sprintf("%s %+v", r.Profile, r.Variant) }

func (c *Caller) before(req PromptRequest) (w written) {
	if req.Session != "" {
		c.pages.do(req.Session, func(p *map[string]written) { w = (*p)[req.key()] })
	}
	return w
}

func (c *Caller) sent(req PromptRequest, w written) {
	if req.Session == "" {
		return
	}
	c.pages.do(req.Session, func(p *map[string]written) {
		if *p == nil || len(*p) >= maxVariants {
			*p = map[string]written{}
		}
		(*p)[req.key()] = w
	})
}

// recent are the tools that a session called last, by shown name.
func (c *Caller) recent(v *catalog.View, session string) []string {
	var names []string
	if session == "" {
		return nil
	}
	c.followed.do(session, func(s *followed) {
		for _, name := range s.recent {
			if e := v.Named(tool.Name(name)); e != nil {
				names = append(names, e.Shown)
			}
		}
	})
	return names
}

// maxExample bounds the arguments that are shown as an example.
const maxExample = 500

// examples are the newest arguments of the owner's successful calls of each tool whose results were stored.
func (c *Caller) examples(ctx context.Context, v *catalog.View, owner string) (map[string]json.RawMessage, error) {
	found := map[string]json.RawMessage{}
	if c.opts.PastResults == nil {
		return found, nil
	}
	list, err := c.opts.PastResults(ctx, store.ResultFilter{Owner: owner})
	if err != nil {
		return nil, fmt.Errorf("find examples: %w", err)
	}
	for _, r := range list {
		e := v.Named(r.Tool)
		if e == nil || r.Err != nil || isToolError(r.Body) || len(r.Args) > maxExample || len(bytes.TrimSpace(r.Args)) <= len("{}") {
			continue
		}
		if found[e.Shown] == nil {
			found[e.Shown] = r.Args
		}
	}
	return found, nil
}
