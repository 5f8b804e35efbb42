package restapi

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/fit"
	"github.com/toolfit/toolfit/internal/gateway/call"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/schema"
)

// Tool is a tool as the API shows it.
type Tool struct {
	Name        string          `json:"name"`
	Server      tool.ServerID   `json:"server"`
	Canonical   tool.Name       `json:"canonical"`
	Description string          `json:"description"`
	Definition  json.RawMessage `json:"definition"` // as the server gave it, or as the configuration changed it

	Result *call.ResultType `json:"result,omitempty"` // what it returns; nil: not known, or one of many
}

// FittedList is the tools of a profile in a provider's dialect.
type FittedList struct {
	Dialect  schema.Dialect    `json:"dialect"`
	Tools    []json.RawMessage `json:"tools"`              // ready for the request to the model
	SetAside []schema.Fitted   `json:"setAside,omitempty"` // what the dialect cannot carry, and why
	Next     string            `json:"next_cursor,omitempty"`
}

// ToolList is the tools of a profile.
type ToolList struct {
	Tools    []Tool             `json:"tools"`
	NotShown []catalog.NotShown `json:"notShown,omitempty"`
	Next     string             `json:"next_cursor,omitempty"` // the cursor of the next page; "" on the last
}

// maxTools is how many tools a page has at most, and without a limit.
const maxTools = 1000

// somePage returns a page of the tools that have all the words, and the cursor of the next. All that fit on one page are in the order
// of the profile; pages are in the order of names, so that a tool that comes or goes moves no other to another page.
func somePage(v *catalog.View, q url.Values) (tools []*catalog.Entry, next string, err error) {
	limit, err := number(q, "limit", 1, maxTools)
	if err != nil {
		return nil, "", err
	}
	limit = cmp.Or(limit, maxTools)
	words := strings.Fields(strings.ToLower(q.Get("q")))
	cursor := q.Get("cursor")
	if cursor == "" {
		tools, more := firstOf(v.Entries, words, limit)
		if !more {
			return tools, "", nil
		}
	}
	tools, more := firstOf(v.After(cursor), words, limit)
	if more {
		next = tools[limit-1].Key()
	}
	return tools, next, nil
}

// firstOf are the first tools that have all the words, and whether there are more.
func firstOf(list []*catalog.Entry, words []string, most int) (tools []*catalog.Entry, more bool) {
	for _, e := range list {
		if !matches(e, words) {
			continue
		}
		if len(tools) == most {
			return tools, true
		}
		tools = append(tools, e)
	}
	return tools, false
}

// matches tells whether a tool is listed, and has all words in its name or
// description. Some of our tools are for agents only.
func matches(e *catalog.Entry, words []string) bool {
	if e.Own && !e.Listed() {
		return false
	}
	if len(words) == 0 {
		return true
	}
	text := strings.ToLower(e.Shown + " " + e.Description())
	return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) })
}

// fitTools returns a page of tools in a dialect.
func fitTools(v *catalog.View, d schema.Dialect, q url.Values) (any, error) {
	fitting, err := v.For(d)
	if err != nil {
		return nil, err
	}
	tools, next, err := somePage(v, q)
	if err != nil {
		return nil, err
	}
	list := FittedList{Dialect: d, Tools: []json.RawMessage{}, Next: next}
	for _, e := range tools {
		switch t := fitting.Tool(e.Shown); {
		case t.Error != nil:
			list.SetAside = append(list.SetAside, *t)
		default:
			list.Tools = append(list.Tools, t.Tool)
		}
	}
	return list, nil
}

func oneTool(e *catalog.Entry) Tool {
	t := Tool{Name: e.Shown, Server: e.Server, Canonical: e.Name, Description: e.Description(), Definition: e.Definition.Raw}
	if e.Changed() {
		t.Definition = e.Raw()
	}
	return t
}

// search finds tools by what they do.
func (a *API) search(q *request) (any, error) {
	limit, err := number(q.query, "limit", 1, maxNumber)
	if err != nil {
		return nil, err
	}
	query := call.Query{Text: q.query.Get("q"), Detail: call.Detail(q.query.Get("detail")), Limit: limit}
	return a.FindTools(q.Context(), q.who, q.query.Get("profile"), query)
}

func (a *API) viewOf(who access.Principal, profile string) (*catalog.View, error) {
	if !who.MayCall() && !who.MayRead() {
		return nil, who.Forbidden("%s may not see tools")
	}
	return a.Catalog.ViewFor(who, profile)
}

func (a *API) tools(r *request) (any, error) {
	q := r.query
	v, err := a.viewOf(r.who, q.Get("profile"))
	if err == nil {
		v, err = a.Catalog.Listed(r.Context(), v.Profile)
	}
	if err != nil {
		return nil, err
	}
	v = v.As(r.who)
	if q.Has("for") {
		return fitTools(v, schema.Dialect(q.Get("for")), q)
	}
	tools, next, err := somePage(v, q)
	if err != nil {
		return nil, err
	}
	answer := ToolList{Tools: []Tool{}, Next: next}
	for _, e := range tools {
		answer.Tools = append(answer.Tools, oneTool(e))
	}
	if q.Has("notShown") && r.who.MayRead() {
		answer.NotShown = v.NotShown()
	}
	return answer, nil
}

func (a *API) tool(r *request) (any, error) {
	q := r.query
	v, err := a.viewOf(r.who, q.Get("profile"))
	if err != nil {
		return nil, err
	}
	e, err := v.Find(r.PathValue("name"))
	if err != nil {
		return nil, err
	}
	if !q.Has("for") {
		one := oneTool(e)
		one.Result = a.Caller.ResultType(r.Context(), v, e)
		return one, nil
	}
	fitting, err := v.For(schema.Dialect(q.Get("for")))
	if err != nil {
		return nil, err
	}
	return fitting.Tool(e.Shown), nil
}

// call calls a tool; the body is the arguments.
func (a *API) call(q *request) (any, error) {
	return a.CallTool(q.Context(), q.who, q.PathValue("name"), q.body, q.query, nil)
}

// Follower hears of a call while it runs.
type Follower struct {
	Began    func(id string)              // the id of its record
	Progress func(params json.RawMessage) // of a notification of its server; it must not block
}

// CallTool calls a tool as the route does: q has profile, for and view. The follower may be nil.
func (a *API) CallTool(
	ctx context.Context, who access.Principal, name string, args json.RawMessage, q url.Values, f *Follower,
) (CallAnswer, error) {
	req, err := callRequest(who, name, args, q)
	if err == nil && f != nil {
		err = f.follow(&req)
	}
	if err != nil {
		return CallAnswer{}, err
	}
	res, err := a.Caller.Do(ctx, req)
	if err != nil {
		return CallAnswer{}, asFault(err)
	}
	return CallAnswer{ID: res.ID, Result: res.Raw, Fitted: showFitted(&res.Fitted), Ref: res.Ref, Rule: res.Rule}, nil
}

// follow asks for the progress of a call.
func (f *Follower) follow(req *call.Request) (err error) {
	req.Began = f.Began
	req.Client = progressPeer{mcp.Deaf, f.Progress}
	req.Params, err = call.ParseParams(mcp.With(req.Params.Raw, "_meta", []byte(`{"progressToken":1}`)))
	return err
}

// progressPeer is a client that hears of progress and answers nothing.
type progressPeer struct {
	mcp.Peer
	tell func(params json.RawMessage)
}

func (p progressPeer) Notify(_ context.Context, method string, params json.RawMessage) error {
	if method == "notifications/progress" {
		p.tell(params)
	}
	return nil
}

// CallAnswer is the answer to a call.
type CallAnswer struct {
	ID     string          `json:"id"`
	Result json.RawMessage `json:"result"`
	Fitted *Fitted         `json:"fitted,omitempty"` // absent when the arguments went out as they came
	Ref    string          `json:"ref,omitempty"`    // where the full result is kept
	Rule   string          `json:"rule,omitempty"`   // which cut the result
}

// Fitted is what was changed in the arguments of a call.
type Fitted struct {
	Arguments json.RawMessage `json:"arguments"`        // as the tool got them, without what is bound here
	Repairs   []fit.Repair    `json:"repairs"`          // what was wrong
	Undone    []schema.Fix    `json:"undone,omitempty"` // what the dialect had changed
}

func showFitted(res *fit.Result) *Fitted {
	if len(res.Repairs) == 0 && len(res.Undone) == 0 {
		return nil
	}
	return &Fitted{Arguments: res.Open(), Repairs: append([]fit.Repair{}, res.Repairs...), Undone: res.Undone}
}

// callRequest reads a call. The arguments are in the dialect that the query names, if any.
func callRequest(who access.Principal, name string, args json.RawMessage, q url.Values) (req call.Request, err error) {
	req = call.Request{Principal: who, Reader: call.Person}
	req.Profile, err = who.ProfileFor(q.Get("profile"))
	if err != nil {
		return req, err
	}
	if q.Has("for") {
		req.Reader = call.Model
		req.Dialect = schema.Dialect(q.Get("for"))
		if err := catalog.CheckDialect(req.Dialect); err != nil {
			return req, err
		}
	}
	switch view := q.Get("view"); view {
	case "":
	case "model":
		req.Reader = call.Model
	case "full":
		req.Reader = call.Person
	default:
		return req, fault.New(fault.BadRequest, "there is no view %.40q", view).WithHint("use model or full")
	}
	req.Params, err = call.NewParams(name, args)
	return req, err
}

// curl returns the HTTP request that a call would send.
func (a *API) curl(q *request) (any, error) {
	text, err := a.CurlTool(q.Context(), q.who, q.PathValue("name"), q.body, q.query)
	if err != nil {
		return nil, err
	}
	return Curl{text}, nil
}

// CurlTool is the HTTP request that a call of an API's tool would send, as a command line without secrets.
func (a *API) CurlTool(ctx context.Context, who access.Principal, name string, args json.RawMessage, q url.Values) (string, error) {
	req, err := callRequest(who, name, args, q)
	if err != nil {
		return "", err
	}
	text, err := a.Caller.Curl(ctx, req)
	return text, asFault(err)
}

type Curl struct {
	Curl string `json:"curl"`
}
