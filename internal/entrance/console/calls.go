package console

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/core/fit"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/state/access"
)

// Calls are the records that the caller may read.
type Calls interface {
	ListCalls(ctx context.Context, who access.Principal, q url.Values, look int) (restapi.CallPage, error)
	ReadCall(ctx context.Context, who access.Principal, id string) (restapi.Call, error)
	WatchCalls(who access.Principal, q url.Values) (*restapi.CallWatch, error)
	ExportCalls(w http.ResponseWriter, r *http.Request, who access.Principal)
}

// Results are the kept results that the caller may read.
type Results interface {
	ReadResult(ctx context.Context, who access.Principal, refOrCall string) (full restapi.Result, shown json.RawMessage, err error)
}

func (c *Console) callsSection() section {
	return section{name: "calls", path: "/calls", key: "c", routes: map[string]handler{
		"GET /calls":        c.listCalls,
		"GET /calls/rows":   c.callRows,
		"GET /calls/live":   c.liveCalls,
		"GET /calls/export": c.exportCalls,
		"GET /calls/{id}":   c.showCall,
	}}
}

// lookAt is how many calls are looked at for one page: what is rare is searched in steps.
const lookAt = 20_000

// filters are what calls are chosen by.
var filters = []string{"server", "tool", "agent", "session", "outcome"}

// outcomes are what a call's outcome may be.
var outcomes = []string{"ok", "tool_error", "question", "error", "canceled"}

// callsPage is what the list of calls shows.
type callsPage struct {
	restapi.CallPage
	Filter   map[string]string
	Filtered bool
	Servers  []restapi.Server
	Outcomes []string
	Live     string // the query of the filters; news comes in on the first page alone
	First    bool
	Export   string
	Pager    pager
	At       time.Time
}

// filterOf are the filters of a query, and nothing else of it.
func filterOf(q url.Values) url.Values {
	chosen := url.Values{}
	for _, name := range filters {
		if value := q.Get(name); value != "" {
			chosen.Set(name, value)
		}
	}
	return chosen
}

func (c *Console) callsNow(v *visit) (callsPage, error) {
	q := filterOf(v.URL.Query())
	p := callsPage{
		Filter: map[string]string{}, Filtered: len(q) > 0, Live: q.Encode(), Outcomes: outcomes,
		Export: with(c.at("/calls/export"), q, "", ""), At: time.Now(), First: v.URL.Query().Get("cursor") == "",
	}
	for name := range q {
		p.Filter[name] = q.Get(name)
	}
	ask := filterOf(q)
	if !p.First {
		ask.Set("cursor", v.URL.Query().Get("cursor"))
		p.Pager.First = with(c.at("/calls"), q, "", "")
	}
	var err error
	if p.CallPage, err = c.Gateway.ListCalls(v.Context(), v.who, ask, lookAt); err != nil {
		return p, err
	}
	if p.Next != "" {
		p.Pager.Older = with(c.at("/calls"), q, "cursor", p.Next)
	}
	return p, nil
}

func (c *Console) listCalls(v *visit) (answer, error) {
	p, err := c.callsNow(v)
	if err != nil {
		return answer{}, err
	}
	p.Servers = c.Gateway.SeenServers(v.who)
	return show("calls", p)
}

// callRows are the rows alone, for pages without a live connection.
func (c *Console) callRows(v *visit) (answer, error) {
	p, err := c.callsNow(v)
	if err != nil {
		return answer{}, err
	}
	return part("calls", "list", p)
}

func (c *Console) exportCalls(v *visit) (answer, error) {
	return answer{serve: func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Disposition", `attachment; filename="calls.jsonl"`)
		c.Gateway.ExportCalls(w, r, v.who)
	}}, nil
}

// callPage is what the page of one call shows.
type callPage struct {
	restapi.Call
	Repairs []fit.Repair
	Fitted  bool  // the tool got other arguments than were sent, or none
	Sent    block // the arguments as they were sent
	Got     block // and as the tool got them
	Kept    bool  // the full result is
	Full    block
	Shown   block
	Saved   float64
}

func (c *Console) showCall(v *visit) (answer, error) {
	one, err := c.Gateway.ReadCall(v.Context(), v.who, v.PathValue("id"))
	if err != nil {
		return answer{}, err
	}
	p := callPage{Call: one, Saved: ratio(one.TokensFull-one.TokensSent, one.TokensFull)}
	json.Unmarshal(one.Repairs, &p.Repairs) // what cannot be read is not shown
	if p.Fitted = one.Arguments != nil; p.Fitted {
		p.Sent, p.Got = code(text(v.lang, "call.sent"), one.Arguments.Sent), code(text(v.lang, "call.got"), one.Arguments.Fitted)
	}
	full, shown, err := c.Gateway.ReadResult(v.Context(), v.who, one.ID)
	switch {
	case fault.Is(err, fault.NotFound):
	case err != nil:
		return answer{}, err
	default:
		p.Kept = true
		p.Got = code(text(v.lang, "call.got"), full.Arguments) // whole, where the record left out what is long
		p.Full = code(text(v.lang, "call.full"), full.Result)
		p.Shown = code(text(v.lang, "call.shown"), shown)
	}
	return show("call", p)
}

// callTone is the tone of an outcome.
func callTone(outcome string) string {
	switch outcome {
	case "ok":
		return "good"
	case "canceled", "question":
		return "calm"
	}
	return "bad"
}
