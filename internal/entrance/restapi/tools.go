package restapi

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/fit"
	"github.com/toolfit/toolfit/internal/gateway/call"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
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
}

// FittedList are the tools of a profile as a model's provider takes them.
type FittedList struct {
	Dialect  schema.Dialect    `json:"dialect"`
	Tools    []json.RawMessage `json:"tools"`              // ready for the request to the model
	SetAside []schema.Fitted   `json:"setAside,omitempty"` // what the dialect cannot carry, and why
}

// fitTools are the tools of a view in a dialect, of those that have all the words.
func fitTools(v *catalog.View, d schema.Dialect, query string) (any, error) {
	fitting, err := v.For(d)
	if err != nil {
		return nil, err
	}
	words := strings.Fields(strings.ToLower(query))
	list := FittedList{Dialect: d, Tools: []json.RawMessage{}}
	for i, t := range fitting.Tools {
		switch {
		case !shows(v.Entries[i]):
		case len(words) > 0 && !hasAll(strings.ToLower(t.Name+" "+v.Entries[i].Description()), words):
		case t.Error != nil:
			list.SetAside = append(list.SetAside, t)
		default:
			list.Tools = append(list.Tools, t.Tool)
		}
	}
	return list, nil
}

// ListTools are the tools of a view that have all the words in their name or description.
func ListTools(v *catalog.View, query string) []Tool {
	words := strings.Fields(strings.ToLower(query))
	tools := []Tool{}
	for _, e := range v.Entries {
		t := oneTool(e)
		if shows(e) && hasAll(strings.ToLower(t.Name+" "+t.Description), words) {
			tools = append(tools, t)
		}
	}
	return tools
}

// shows tells whether a tool is in lists. One of ours may be there for agents alone.
func shows(e *catalog.Entry) bool { return !e.Own || e.Listed() }

func hasAll(text string, words []string) bool {
	for _, w := range words {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}

func oneTool(e *catalog.Entry) Tool {
	t := Tool{Name: e.Shown, Server: e.Server, Canonical: e.Name, Description: e.Description(), Definition: e.Definition.Raw}
	if e.Changed() {
		t.Definition = e.Raw()
	}
	return t
}

// view finds what the caller sees in the profile that the request names.
func (a *API) view(r *http.Request, who access.Principal) (*catalog.View, error) {
	return a.viewOf(who, r.URL.Query().Get("profile"))
}

func (a *API) viewOf(who access.Principal, profile string) (*catalog.View, error) {
	if !who.MayCall() && !who.MayRead() {
		return nil, who.Lacks("%s may not see tools")
	}
	return a.Catalog.ViewFor(who, profile)
}

func (a *API) tools(r *http.Request, who access.Principal) (any, error) {
	v, err := a.view(r, who)
	if err != nil {
		return nil, err
	}
	if v, err = a.Catalog.Listed(r.Context(), v.Profile); err != nil {
		return nil, err
	}
	q := r.URL.Query()
	if q.Has("for") {
		return fitTools(v, schema.Dialect(q.Get("for")), q.Get("q"))
	}
	answer := map[string]any{"tools": ListTools(v, q.Get("q"))}
	if hidden := v.NotShown(); len(hidden) > 0 && q.Has("notShown") && who.MayRead() {
		answer["notShown"] = hidden
	}
	return answer, nil
}

func (a *API) tool(r *http.Request, who access.Principal) (any, error) {
	v, err := a.view(r, who)
	if err != nil {
		return nil, err
	}
	e, err := v.Find(r.PathValue("name"))
	if err != nil {
		return nil, err
	}
	q := r.URL.Query()
	if !q.Has("for") {
		return oneTool(e), nil
	}
	fitting, err := v.For(schema.Dialect(q.Get("for")))
	if err != nil {
		return nil, err
	}
	return fitting.Tool(e.Shown), nil
}

// call takes the bare arguments as its body.
func (a *API) call(r *http.Request, who access.Principal) (any, error) {
	req, err := a.callRequest(r, who)
	if err != nil {
		return nil, err
	}
	return a.do(r.Context(), req)
}

func (a *API) do(ctx context.Context, req call.Request) (CallAnswer, error) {
	res, err := a.Caller.Do(ctx, req)
	if err != nil {
		return CallAnswer{}, asFault(err)
	}
	return CallAnswer{ID: res.ID, Result: res.Raw, Fitted: showFitted(&res.Fitted), Ref: res.Ref, Rule: res.Rule}, nil
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

// callRequest reads a call: the arguments are the tool's own, or those that a model sent
// for the tool in the dialect that the request names.
func (a *API) callRequest(r *http.Request, who access.Principal) (req call.Request, err error) {
	q := r.URL.Query()
	if req, err = newRequest(who, q); err != nil {
		return req, err
	}
	args, err := a.body(r)
	if err != nil {
		return req, err
	}
	req.Params, err = call.NewParams(r.PathValue("name"), args)
	return req, err
}

// CallTool calls a tool as the route does: q has profile, for and view.
func (a *API) CallTool(ctx context.Context, who access.Principal, name string, args json.RawMessage, q url.Values) (CallAnswer, error) {
	req, err := newRequest(who, q)
	if err == nil {
		req.Params, err = call.NewParams(name, args)
	}
	if err != nil {
		return CallAnswer{}, err
	}
	return a.do(ctx, req)
}

// newRequest reads who is to get what of a call.
func newRequest(who access.Principal, q url.Values) (req call.Request, err error) {
	req = call.Request{Principal: who, Reader: call.Person}
	if req.Profile, err = who.ProfileFor(q.Get("profile")); err != nil {
		return req, err
	}
	if q.Has("for") {
		req.Reader, req.Dialect = call.Model, schema.Dialect(q.Get("for"))
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
	return req, nil
}

// curl tells which HTTP request a call would send, and sends nothing.
func (a *API) curl(r *http.Request, who access.Principal) (any, error) {
	req, err := a.callRequest(r, who)
	if err != nil {
		return nil, err
	}
	text, err := a.Caller.Curl(r.Context(), req)
	if err != nil {
		return nil, asFault(err)
	}
	return Curl{text}, nil
}

// Curl is an HTTP request as a command line.
type Curl struct {
	Curl string `json:"curl"`
}
