package console

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/fit"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/gateway/call"
	"github.com/toolfit/toolfit/internal/state/access"
)

// Calls reads the records that the caller may see, and their stored results.
type Calls interface {
	ListCalls(ctx context.Context, who access.Principal, q url.Values, look int) (restapi.CallPage, error)
	ReadCall(ctx context.Context, who access.Principal, id string) (restapi.Call, error)
	ReadResult(ctx context.Context, who access.Principal, refOrCall string) (full restapi.Result, shown json.RawMessage, err error)
}

// CallFeed streams records: new ones as they come, or all as a file.
type CallFeed interface {
	WatchCalls(who access.Principal, q url.Values) (*restapi.CallWatch, error)
	ExportCalls(w http.ResponseWriter, r *http.Request, who access.Principal)
}

// CallChanges cancels calls that go on without their requests.
type CallChanges interface {
	CancelCall(ctx context.Context, who access.Principal, id string) (restapi.Call, error)
}

func (c *Console) callsSection() section {
	return section{name: "calls", path: "/calls", key: "c", routes: map[string]handler{
		"GET /calls":              page("calls", whole, c.showCalls),
		"GET /calls/rows":         page("calls", "list", c.listCalls), // without a live connection
		"GET /calls/waiting":      page("calls", "waiting", c.waitingCalls),
		"GET /calls/live":         c.liveCalls,
		"GET /calls/export":       c.exportCalls,
		"GET /calls/{id}":         page("call", whole, c.readCall),
		"GET /calls/{id}/now":     page("call", "now", c.readCall),
		"POST /calls/{id}/cancel": c.cancelCall,
	}}
}

// lookAt is how many calls are searched for one page.
const lookAt = 20_000

// callFilters are the query parameters that select calls.
var callFilters = []string{"server", "tool", "agent", "session", "outcome", "policy", "parent"}

var outcomes = []string{"ok", "tool_error", "question", "error", "canceled"}

type callsPage struct {
	list
	restapi.CallPage
	Servers  []restapi.Server
	Outcomes []string
	Ruled    bool   // the person may filter by the rules of the policy
	Live     string // query of the live updates, which only the first page has
	Export   string
	At       time.Time
	Waiting  *waitingPart // only on the first page without filters
}

// showCalls is the whole page: waiting calls, then those that have ended.
func (c *Console) showCalls(v *visit) (callsPage, error) {
	p, err := c.listCalls(v)
	if err == nil && p.First && !p.Filtered {
		p.Waiting, err = c.waitingCalls(v)
	}
	return p, err
}

func (c *Console) listCalls(v *visit) (callsPage, error) {
	p := callsPage{list: c.listOf(v, "/calls", callFilters...), Servers: c.Servers.SeenServers(v.who), Outcomes: outcomes, Ruled: v.who.MayRead(), At: time.Now()}
	p.Live = p.query.Encode()
	p.Export = with(c.at("/calls/export"), p.query, "", "")
	var err error
	p.CallPage, err = c.Calls.ListCalls(v.Context(), v.who, p.ask(), lookAt)
	p.older(p.Next)
	return p, err
}

func (c *Console) exportCalls(v *visit) (answer, error) {
	return serve(func(w http.ResponseWriter) {
		w.Header().Set("Content-Disposition", `attachment; filename="calls.jsonl"`)
		c.CallFeed.ExportCalls(w, v.Request, v.who)
	})
}

type callPage struct {
	restapi.Call
	Ran     *scriptPart // nil: it is no script
	App     app         // shows the result
	Now     time.Time
	May     bool // cancel it
	MaySave bool // as a recipe
	Asked   []asked
	Answer  block // the result of a call that went on without its request
	Repairs []fit.Repair
	Fitted  bool  // the tool got different arguments, or none
	Sent    block // arguments as the caller sent them
	Got     block // arguments as the tool got them
	Kept    bool  // the full result is stored
	Full    block
	Shown   block
	Saved   float64
}

func (c *Console) readCall(v *visit) (callPage, error) {
	one, err := c.Calls.ReadCall(v.Context(), v.who, v.PathValue("id"))
	if err != nil {
		return callPage{}, err
	}
	p := callPage{Call: one, Fitted: one.Arguments != nil, Saved: ratio(one.TokensFull-one.TokensSent, one.TokensFull)}
	p.App = c.appOf(v, one.Profile, tool.Name(one.Tool))
	p.addWaiting(v)
	if p.Ran, err = c.scriptOf(v, one); err != nil {
		return p, err
	}
	p.MaySave = one.Tool == call.RunScript && one.Outcome == "ok" && v.who.MayAdmin()
	json.Unmarshal(one.Repairs, &p.Repairs) // shown as none if unreadable
	if p.Fitted {
		p.Sent = code(text(v.lang, "call.sent"), one.Arguments.Sent)
		p.Got = code(text(v.lang, "call.got"), one.Arguments.Fitted)
	}
	full, shown, err := c.Calls.ReadResult(v.Context(), v.who, one.ID)
	if fault.Is(err, fault.NotFound) {
		return p, nil
	}
	p.Kept = true
	p.Got = code(text(v.lang, "call.got"), full.Arguments) // the record leaves out long ones
	p.Full = code(text(v.lang, "call.full"), full.Result)
	p.Shown = code(text(v.lang, "call.shown"), shown)
	p.App.shows(p.arguments(full), full.Result)
	return p, err
}

// arguments are those of the call as far as the person may see them: as the tool got them, or else as they were sent.
func (p *callPage) arguments(full restapi.Result) json.RawMessage {
	if full.Arguments == nil && p.Call.Arguments != nil {
		return p.Call.Arguments.Sent
	}
	return full.Arguments
}
