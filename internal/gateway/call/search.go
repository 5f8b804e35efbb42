package call

import (
	"cmp"
	"context"
	"encoding/json"
	"math"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/prompt"
	"github.com/toolfit/toolfit/internal/core/search"
	"github.com/toolfit/toolfit/internal/core/tokens"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/schema"
)

// Meaning turns texts into vectors; similar meanings give similar vectors.
type Meaning interface {
	// Tools returns the known vectors, parallel to texts, and requests the others in the background.
	Tools(texts []catalog.Text) [][]float32
	// Query returns the vector of a query, or nil if it is not available in time.
	Query(ctx context.Context, text string) []float32
}

// Detail is how much a search returns for each tool.
type Detail string

const (
	NameOnly  Detail = "name"
	Signature Detail = "sig"
	Full      Detail = "full"
)

// Query is a search for tools.
type Query struct {
	Text   string `json:"query"`
	Limit  int    `json:"limit"`  // 0: 5
	Detail Detail `json:"detail"` // "": Signature

	Server tool.ServerID          `json:"-"` // only this server's tools; "": all
	Allow  func(name string) bool `json:"-"` // only those tools, by the names that are shown; nil: all
}

// allows tells whether a search may find a tool.
func (q *Query) allows(e *catalog.Entry) bool {
	return (q.Server == "" || e.Server == q.Server) && (q.Allow == nil || q.Allow(e.Shown))
}

// maxFound limits the tools in one answer.
const maxFound = 50

func (q *Query) check() error {
	switch {
	case strings.TrimSpace(q.Text) == "":
		return fault.New(fault.BadRequest, "there is nothing to search for").WithHint("say in a few words what is to be done")
	case q.Limit < 0 || q.Limit > maxFound:
		return fault.New(fault.BadRequest, "limit must be from 1 to %d", maxFound)
	}
	switch q.Detail {
	case "", NameOnly, Signature, Full:
		return nil
	}
	return fault.New(fault.BadRequest, "unknown detail %.40q", string(q.Detail)).WithHint("choose name, sig or full")
}

// Found is the result of a search.
type Found struct {
	Tools  []FoundTool          `json:"tools"`
	Skills []catalog.FoundSkill `json:"skills,omitempty"` // instructions that servers have, to be read as resources
	Note   string               `json:"note,omitempty"`   // what else to try if nothing was found
}

// FoundTool is one found tool.
type FoundTool struct {
	Name   string        `json:"name"`
	Server tool.ServerID `json:"server"`
	Text   string        `json:"text,omitempty"`
	Score  float64       `json:"score"`

	entry *catalog.Entry
}

// Search finds tools among those that the caller may call in the profile.
func (c *Caller) Search(ctx context.Context, who access.Principal, profile string, q Query) (*Found, error) {
	if err := q.check(); err != nil {
		return nil, err
	}
	view, err := c.tools.Listed(ctx, profile)
	if err != nil {
		return nil, err
	}
	view = view.As(who)
	f := view.Finder()
	query := search.Query{Text: q.Text, Limit: q.Limit, Memory: c.memories.of(ctx, who.ID), Now: c.opts.Now()}
	if q.Server != "" || q.Allow != nil {
		query.Allow = func(i int) bool { return q.allows(f.Entries[i]) }
	}
	if c.opts.Meaning != nil && len(f.Texts) > 0 {
		if query.Vectors = c.opts.Meaning.Tools(f.Texts); query.Vectors != nil {
			query.Vector = c.opts.Meaning.Query(ctx, q.Text)
		}
	}
	found := &Found{Tools: []FoundTool{}, Skills: view.FindSkills(q.Text, q.Server)}
	room := cmp.Or(view.Results.How.Budget, fetchBudget)
	for _, r := range f.Index.Search(query) {
		e := f.Entries[r.Index]
		text := tell(e, cmp.Or(q.Detail, Signature), &room)
		score := math.Round(1000*float64(r.Score)) / 1000
		found.Tools = append(found.Tools, FoundTool{Name: e.Shown, Server: e.Server, Text: text, Score: score, entry: e})
	}
	switch {
	case len(found.Tools) == 0:
		found.Note = "no tool fits; try other words. " + among(view)
	case found.Tools[0].Score < search.Sure:
		found.Note = "no tool matches these words; those listed are guesses. " + among(view)
	}
	return found, nil
}

// among says what there is to search.
func among(v *catalog.View) string {
	if overview := v.Overview(); overview != "" {
		return "There are tools of: " + overview
	}
	return "There are no tools"
}

// tell describes a tool in the requested detail, or in less if there is no room.
func tell(e *catalog.Entry, detail Detail, room *int) string {
	t := e.PromptTool()
	text := ""
	if detail == Full {
		text = prompt.TypeScriptOf(&t)
	}
	if detail == Signature || detail == Full && tokens.Estimate(text) > *room {
		text = prompt.SignatureOf(&t)
	}
	cost := tokens.Estimate(text)
	if cost > *room {
		return ""
	}
	*room -= cost
	return text
}

// findTools is the tool find_tools.
func (c *Caller) findTools(ctx context.Context, req *Request, args json.RawMessage) (json.RawMessage, error) {
	var q Query
	if err := rawjson.Decode(args, &q); err != nil {
		return nil, fault.New(fault.BadArguments, "the arguments do not fit: %w", err)
	}
	found, err := c.Search(ctx, req.Principal, req.Profile, q)
	if err != nil {
		return nil, err
	}
	if req.May != nil {
		found.Tools = slices.DeleteFunc(found.Tools, func(t FoundTool) bool { return !req.May(t.entry) })
		found.Skills = nil // such an agent has nothing but tools
	}
	ids := make([]string, len(found.Tools))
	for i, t := range found.Tools {
		ids[i] = string(t.entry.Name)
	}
	c.followed.do(req.session(), func(s *followed) { s.trail.Found(q.Text, ids) })
	return ownResult(found), nil
}

// Description is all about one tool.
type Description struct {
	Name        string          `json:"name"`
	Server      tool.ServerID   `json:"server,omitempty"`
	Signature   string          `json:"signature"`
	Description string          `json:"description,omitempty"`
	InputSchema json.RawMessage `json:"inputSchema,omitempty"` // without references; absent where it is too large
	Example     json.RawMessage `json:"example,omitempty"`
	Result      *ResultType     `json:"result,omitempty"` // absent where it is not known
}

// Declared is one tool as a script sees it.
type Declared struct {
	Name        string        `json:"name"`
	Server      tool.ServerID `json:"server,omitempty"`
	Declaration string        `json:"declaration"`
}

// describeTool is the tool describe_tool.
func (c *Caller) describeTool(ctx context.Context, req *Request, args json.RawMessage) (json.RawMessage, error) {
	name, _ := rawjson.String(rawjson.Get(args, "name"))
	view, err := c.tools.Listed(ctx, req.Profile)
	if err != nil {
		return nil, err
	}
	view = view.As(req.Principal)
	e, err := view.Find(name)
	if err != nil || e.AppOnly() || req.May != nil && !req.May(e) {
		return nil, unknown(view, name, req.May)
	}
	if detail, _ := rawjson.String(rawjson.Get(args, "detail")); detail == "ts" {
		return ownResult(Declared{e.Shown, e.Server, c.Declaration(ctx, view, e)}), nil
	}
	t := e.PromptTool()
	d := Description{Name: t.Name, Server: e.Server, Signature: prompt.SignatureOf(&t), Description: t.Description, Example: t.Example}
	d.Result = c.ResultType(ctx, view, e)
	if plan, err := schema.Plan(t.Schema, schema.Inlined, &schema.Options{Degrade: true}); err == nil {
		d.InputSchema = plan.Parameters
	}
	return ownResult(d), nil
}

// maxNear is how many similar tools the error for an unknown one names.
const maxNear = 3

// unknown is the error for a name that no tool has, with the nearest tools that the caller may use; a nil may means all.
func unknown(v *catalog.View, name string, may func(*catalog.Entry) bool) error {
	f := v.Finder()
	err := fault.New(fault.BadArguments, "/name: there is no tool %.100s", name)
	near := f.Index.Near(name, maxNear, func(i int) bool { return may == nil || may(f.Entries[i]) })
	if len(near) == 0 {
		return err.WithHint("use find_tools. %s", among(v))
	}
	lines := make([]string, len(near))
	for i, at := range near {
		t := f.Entries[at].PromptTool()
		lines[i] = prompt.SignatureOf(&t)
	}
	return err.WithHint("did you mean one of these?\n%s", strings.Join(lines, "\n"))
}

// ownResult is a value as the result of one of our own tools.
func ownResult(v any) json.RawMessage {
	return textAndStructured(rawjson.Encode(v))
}

// textAndStructured is a result with the value in both forms.
func textAndStructured(body []byte) json.RawMessage {
	out := rawjson.AppendString([]byte(`{"content":[{"type":"text","text":`), string(body))
	return append(append(append(out, `}],"structuredContent":`...), body...), '}')
}
