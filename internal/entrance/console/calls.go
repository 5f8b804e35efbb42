package console

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/locale"
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
		"GET /calls/timeline":     page("timeline", whole, c.timeline),
		"GET /calls/compare":      page("compare", whole, c.compareCalls),
		"GET /calls/live":         c.liveCalls,
		"GET /calls/export":       c.exportCalls,
		"GET /calls/{id}":         page("call", whole, c.readCall),
		"GET /calls/{id}/now":     page("call", "now", c.readCall),
		"POST /calls/{id}/cancel": c.cancelCall,
	}}
}

// lookAt is how many calls are searched for one page.
const lookAt = 20_000

type callsPage struct {
	callFilter
	restapi.CallPage
	Servers  []restapi.Server
	Live     string // query of the live updates, which only the first page has
	Export   string
	Timeline string // the same calls on an axis of time
	At       time.Time
	Waiting  *waitingPart // only on the first page without filters
}

// showCalls is the whole page: waiting calls, then those that have ended. A filter that is wrong stays to be corrected.
func (c *Console) showCalls(v *visit) (callsPage, error) {
	p, err := c.listCalls(v)
	if fault.Is(err, fault.BadRequest) {
		p.Fault = fault.As(err)
		return p, nil
	}
	if err == nil && p.First && !p.Filtered {
		p.Waiting, err = c.waitingCalls(v)
	}
	return p, err
}

func (c *Console) listCalls(v *visit) (callsPage, error) {
	p := callsPage{callFilter: c.callFilterOf(v, "/calls"), Servers: c.Servers.SeenServers(v.who), At: time.Now()}
	p.Live = p.query.Encode()
	p.Export = with(c.at("/calls/export"), p.query, "", "")
	p.Timeline = with(c.at("/calls/timeline"), p.query, "", "")
	if p.Fault != nil {
		return p, p.Fault
	}
	var err error
	p.CallPage, err = c.Calls.ListCalls(v.Context(), v.who, p.ask, lookAt)
	p.older(p.Next)
	return p, err
}

func (c *Console) exportCalls(v *visit) (answer, error) {
	q, err := callQuery(v.URL.Query(), time.Now())
	if err != nil {
		return answer{}, err
	}
	r := v.Request.Clone(v.Context())
	r.URL.RawQuery = q.Encode()
	return serve(func(w http.ResponseWriter) {
		w.Header().Set("Content-Disposition", `attachment; filename="calls.jsonl"`)
		c.CallFeed.ExportCalls(w, r, v.who)
	})
}

// maxOfResult is how many bytes of a result the page of its call shows; the file that it leads to has all.
const maxOfResult = 16_000

type callPage struct {
	restapi.Call
	Ran     *scriptPart // nil: it is no script
	Within  *waterfall  // what it belongs to; nil: nothing
	Again   string      // where it can be made again; "": nowhere
	Home    string      // the page of its session or test run; "": there is none
	App     app         // shows the result
	Now     time.Time
	May     bool // cancel it
	MaySave bool // as a recipe
	Asked   []asked
	Answer  block        // the result of a call that went on without its request
	Repairs []fit.Repair // those that no line of Mended shows
	Mended  []mendedLine // from the arguments as sent to those that the tool got; nil: one of them is not known
	Fitted  bool         // the tool got different arguments, or none
	Sent    block        // arguments as the caller sent them
	Got     block        // arguments as the tool got them
	Kept    bool         // the full result is stored
	Full    block
	Shown   block
	Same    bool // a model gets all of the full result
	Saved   float64
}

func (c *Console) readCall(v *visit) (callPage, error) {
	one, err := c.Calls.ReadCall(v.Context(), v.who, v.PathValue("id"))
	if err != nil {
		return callPage{}, err
	}
	p := callPage{Call: one, Fitted: one.Arguments != nil, Saved: ratio(one.TokensFull-one.TokensSent, one.TokensFull)}
	p.App = c.appOf(v, one.Profile, tool.Name(one.Tool))
	p.Home = c.homeOf(one.Session)
	p.addWaiting(v)
	if p.Ran, err = c.scriptOf(v, one); err != nil {
		return p, err
	}
	if p.Within, err = c.within(v, one); err != nil {
		return p, err
	}
	if one.Outcome != "" && one.Server != "" && v.who.MayCall() {
		p.Again = with(c.at("/tools/"+url.PathEscape(one.Tool)), url.Values{"from": {one.ID}}, "profile", one.Profile)
	}
	p.MaySave = one.Tool == call.RunScript && one.Outcome == "ok" && v.who.MayAdmin()
	json.Unmarshal(one.Repairs, &p.Repairs) // shown as none if unreadable
	full, shown, err := c.Calls.ReadResult(v.Context(), v.who, one.ID)
	p.addArguments(v.lang, full.Arguments)
	if fault.Is(err, fault.NotFound) {
		return p, nil
	}
	p.Kept = true
	p.Full = brief(text(v.lang, "call.full"), full.Result, maxOfResult)
	p.Same = bytes.Equal(full.Result, shown)
	p.Shown = brief(text(v.lang, "call.shown"), shown, maxOfResult)
	p.App.shows(p.arguments(full), full.Result)
	return p, err
}

// homeOf is the address of the page of a session, or of the test run that a session is part of; "": it has none.
func (c *Console) homeOf(session string) string {
	run, _, part := strings.Cut(session, "/")
	switch {
	case strings.HasPrefix(session, "ses_"):
		return c.at("/environments/sessions/" + url.PathEscape(session))
	case part && strings.HasPrefix(run, "run_"):
		return c.at("/runs/" + url.PathEscape(run))
	}
	return ""
}

// policyRule is a rule of the policy that applied to a call, or who approved it.
type policyRule struct{ Says, Name string }

// PolicyRules are those that applied, of which the record has a list such as "approve pay, approved by Ann, watch nights".
func (p callPage) PolicyRules() (rules []policyRule) {
	for one := range strings.SplitSeq(p.Policy, ", ") {
		says, name, _ := strings.Cut(one, " ")
		if says == "approved" {
			name = strings.TrimPrefix(name, "by ")
		}
		rules = append(rules, policyRule{says, name})
	}
	return rules
}

// addArguments adds the arguments as sent and as the tool got them: the stored result has those that are too long for the record.
func (p *callPage) addArguments(lang locale.Language, got json.RawMessage) {
	if p.Fitted && got == nil {
		got = p.Call.Arguments.Fitted
	}
	p.Got = code(text(lang, "call.got"), got)
	if !p.Fitted {
		return
	}
	p.Sent = code(text(lang, "call.sent"), p.Call.Arguments.Sent)
	if got != nil && p.Call.Arguments.Sent != nil {
		p.Mended, p.Repairs = mended(p.Call.Arguments.Sent, got, p.Repairs)
	}
}

// arguments are those of the call as far as the person may see them: as the tool got them, or else as they were sent.
func (p *callPage) arguments(full restapi.Result) json.RawMessage {
	if full.Arguments == nil && p.Call.Arguments != nil {
		return p.Call.Arguments.Sent
	}
	return full.Arguments
}
