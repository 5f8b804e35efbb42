package console

import (
	"context"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/locale"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/project"
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
}

func (c *Console) toolsSection() section {
	return section{name: "tools", path: "/tools", key: "t", routes: map[string]handler{
		"GET /tools":             c.listTools,
		"GET /tools/{name}":      page("tool", whole, func(v *visit) (*toolPage, error) { return c.toolPage(v, v.URL.Query()) }),
		"POST /tools/{name}/try": c.tryTool,

		"GET /tools/{name}/app":       c.showApp,
		"POST /tools/{name}/app/call": c.callForApp,
		"POST /tools/{name}/app/read": c.readForApp,
	}}
}

const toolsOnPage = 50

type toolsPage struct {
	restapi.ToolPage
	Found    *call.Found // search results; nil: no search
	Query    string
	Profile  string
	Profiles []string // to choose from; empty: no choice
	Server   tool.ServerID
	First    int // number of the first tool on the page
	Pager    pager
}

func (c *Console) listTools(v *visit) (answer, error) {
	q := v.URL.Query()
	p := toolsPage{Query: strings.TrimSpace(q.Get("q")), Profile: q.Get("profile"), Server: tool.ServerID(q.Get("server"))}
	if v.who.Profile == access.AnyProfile {
		p.Profiles = c.Profiles()
	}
	page, err := strconv.Atoi(q.Get("page"))
	if err != nil || page < 1 || page > 1_000_000 {
		page = 1
	}
	offset := (page - 1) * toolsOnPage
	p.ToolPage, err = c.Tools.PageTools(v.who, restapi.ToolQuery{Profile: p.Profile, Server: p.Server, Offset: offset, Limit: toolsOnPage})
	if err != nil {
		return answer{}, err
	}
	if page > 1 && len(p.Tools) == 0 { // the list has become shorter
		return answer{location: with("/tools", q, "page", strconv.Itoa(max(1, (p.Total+toolsOnPage-1)/toolsOnPage)))}, nil
	}
	if p.Query != "" {
		p.Found, err = c.Tools.FindTools(v.Context(), v.who, p.Profile, call.Query{Text: p.Query, Limit: 20, Server: p.Server})
	} else {
		p.First = offset + 1
		p.Pager = numbered(c.at("/tools"), q, page, offset+len(p.Tools) < p.Total)
		p.Pager.Note = text(v.lang, "tools.some", p.First, offset+len(p.Tools), number(int64(p.Total)))
	}
	if err != nil {
		return answer{}, err
	}
	return v.update("tools", "list", p)
}

type toolPage struct {
	restapi.OneTool
	App      app // shows the results
	Profile  string
	Received block
	Dialect  schema.Dialect // shown beside the original
	Shown    block
	Report   []schema.Change
	Error    string // why the dialect does not support it
	Dialects []dialectRow
	Fields   []field
	Whole    bool   // the arguments are entered as JSON instead of in fields
	JSON     string // the arguments as JSON
	View     string // the full result, or the result for models
	May      bool   // call the tool
	Tried    *tried
}

type dialectRow struct {
	schema.Fitted
	Tokens int
	Here   bool
}

func (c *Console) toolPage(v *visit, q url.Values) (*toolPage, error) {
	one, err := c.Tools.ShowTool(v.Context(), v.who, q.Get("profile"), v.PathValue("name"))
	if err != nil {
		return nil, err
	}
	p := &toolPage{OneTool: one, Profile: q.Get("profile"), Dialect: schema.Dialect(q.Get("for")), May: v.who.MayCall()}
	p.App = c.appOf(v, p.Profile, one.Canonical)
	p.Received = code(text(v.lang, "tools.received"), one.Definition)
	if !p.Dialect.Known() {
		p.Dialect = schema.OpenAI
	}
	for _, f := range one.Fitted {
		row := dialectRow{f, tokens.Estimate([]byte(f.Tool)), f.Dialect == p.Dialect}
		p.Dialects = append(p.Dialects, row)
		if row.Here {
			p.setDialect(v.lang, f)
		}
	}
	p.Fields = fieldsOf(one.InputSchema)
	p.Whole = p.Fields == nil
	return p, nil
}

func (p *toolPage) setDialect(lang locale.Language, f schema.Fitted) {
	p.Shown = code(text(lang, "tools.as", string(f.Dialect)), f.Tool)
	p.Report = f.Report
	if f.Error != nil {
		p.Error = f.Error.Error()
	}
}

// ToolCaller calls tools.
type ToolCaller interface {
	CallTool(ctx context.Context, who access.Principal, name string, args json.RawMessage, q url.Values) (restapi.CallAnswer, error)
}

type tried struct {
	restapi.CallAnswer
	Sent   block // arguments as entered
	Got    block // arguments as the tool got them
	Result block
	Tokens int // of the result, estimated
	Took   time.Duration
	Fault  *fault.Error // why there is no result
	Error  bool         // the tool returned an error
}

// tryTool calls a tool with the arguments that a person entered.
func (c *Console) tryTool(v *visit) (answer, error) {
	p, err := c.toolPage(v, v.PostForm)
	if err != nil {
		return answer{}, err
	}
	p.View = v.PostForm.Get("view")
	p.JSON = v.PostForm.Get("json")
	args := argumentsOf(p.Fields, v.PostForm)
	if p.Whole {
		args = json.RawMessage(strings.TrimSpace(p.JSON))
	}
	q := url.Values{"profile": {p.Profile}}
	if p.View == "model" {
		q.Set("view", "model")
	}
	began := time.Now()
	out, err := c.ToolCaller.CallTool(v.Context(), v.who, p.Name, args, q)
	p.Tried = &tried{CallAnswer: out, Sent: code(text(v.lang, "try.sent"), args), Took: time.Since(began)}
	switch {
	case err != nil && fault.As(err).Code == fault.Internal:
		return answer{}, err
	case err != nil:
		p.Tried.Fault = fault.As(err)
	default:
		p.Tried.Result = code(text(v.lang, "try.result"), out.Result)
		p.Tried.Tokens = project.Tokens(out.Result)
		p.Tried.Error = toolError(out.Result)
		if out.Fitted != nil {
			args = out.Fitted.Arguments
		}
		p.App.shows(args, c.inFull(v, out))
	}
	if out.Fitted != nil {
		p.Tried.Got = code(text(v.lang, "try.fitted"), out.Fitted.Arguments)
	}
	return v.update("tool", "tried", p)
}

// inFull is the result of a call without the cuts that were made for a model.
func (c *Console) inFull(v *visit, out restapi.CallAnswer) json.RawMessage {
	if out.Ref == "" {
		return out.Result
	}
	full, _, err := c.Calls.ReadResult(v.Context(), v.who, out.Ref)
	if err != nil {
		return out.Result
	}
	return full.Result
}

// toolError tells whether a result is marked as an error.
func toolError(result json.RawMessage) bool {
	var r struct {
		IsError bool `json:"isError"`
	}
	return json.Unmarshal(result, &r) == nil && r.IsError
}
