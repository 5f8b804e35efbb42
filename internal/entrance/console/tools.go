package console

import (
	"context"
	"maps"
	"net/url"
	"slices"
	"time"

	"github.com/toolfit/toolfit/internal/base/locale"
	"github.com/toolfit/toolfit/internal/core/tokens"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/gateway/call"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/schema"
)

// Tools reads the tools that the caller may see.
type Tools interface {
	PageTools(who access.Principal, q restapi.ToolQuery) (restapi.ToolPage, error)
	FindTools(ctx context.Context, who access.Principal, profile string, q call.Query) (*call.Found, error)
	ShowTool(ctx context.Context, who access.Principal, profile, name string) (restapi.OneTool, error)
	History(ctx context.Context, who access.Principal, profile, name string) (restapi.ToolHistory, error)
}

func (c *Console) toolsSection() section {
	return section{name: "tools", path: "/tools", key: "t", routes: map[string]handler{
		"GET /tools":               c.listTools,
		"GET /tools/{name}":        page("tool", whole, c.showTool),
		"POST /tools/{name}/try":   c.tryTool,
		"POST /tools/{name}/lines": c.showLines,

		"GET /tools/{name}/versions/{hash}": c.showVersion,

		"GET /tools/{name}/app":       c.showApp,
		"POST /tools/{name}/app/call": c.callForApp,
		"POST /tools/{name}/app/read": c.readForApp,
	}}
}

// The page of a tool shows its definition twice, beside the form.
const (
	maxBeside  = 20_000 // bytes of each
	maxChanges = 50     // in the list of what a dialect changes
)

type toolPage struct {
	restapi.OneTool
	App      app // shows the results
	Profile  string
	Received block
	Dialect  schema.Dialect // shown beside the original
	Shown    block
	Report   []schema.Change // the first of the changes
	Changes  int
	Error    string // why the dialect does not support it
	Dialects []dialectRow
	May      bool // call the tool
	tryPart

	Overridden *overridden // nil: it is not, or not for the visitor's eyes
	History    []toolVersion
	Unchanged  *time.Time // since when the only definition is known; nil: there are others, or somebody has decided about it
}

type dialectRow struct {
	schema.Fitted
	Asked  schema.Dialect
	Tokens int
	Here   bool
}

func (c *Console) toolPage(v *visit, q url.Values) (*toolPage, error) {
	one, err := c.Tools.ShowTool(v.Context(), v.who, q.Get("profile"), v.PathValue("name"))
	if err != nil {
		return nil, err
	}
	p := &toolPage{OneTool: one, Profile: q.Get("profile"), Dialect: schema.Dialect(q.Get("for")), May: v.who.MayCall() && one.Why == ""}
	p.App = c.appOf(v, p.Profile, one.Canonical)
	p.Received = codeUpTo(text(v.lang, "tools.received"), one.Definition, maxBeside)
	if !p.Dialect.Known() {
		p.Dialect = schema.OpenAI
	}
	for _, d := range slices.Sorted(maps.Keys(one.Fitted)) {
		f := one.Fitted[d]
		row := dialectRow{f, d, tokens.Estimate([]byte(f.Tool)), d == p.Dialect}
		p.Dialects = append(p.Dialects, row)
		if row.Here {
			p.setDialect(v.lang, f)
		}
	}
	return p, c.describe(v, p)
}

func (p *toolPage) setDialect(lang locale.Language, f schema.Fitted) {
	p.Shown = codeUpTo(text(lang, "tools.as", string(p.Dialect)), f.Tool, maxBeside)
	p.Report = f.Report[:min(len(f.Report), maxChanges)]
	p.Changes = len(f.Report)
	if f.Error != nil {
		p.Error = f.Error.Error()
	}
}
