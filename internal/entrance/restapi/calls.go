package restapi

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/store"
)

// Call is a call as the API shows it: its record, or before that what is known of a waiting one.
type Call struct {
	ID         string    `json:"id"`
	At         time.Time `json:"at"`
	Principal  string    `json:"principal"`
	Profile    string    `json:"profile"`
	Session    string    `json:"session,omitempty"`
	Agent      string    `json:"agent,omitempty"`
	MCPSession string    `json:"mcp_session,omitempty"` // of the transport
	Server     string    `json:"server"`
	Tool       string    `json:"tool"`
	Upstream   string    `json:"upstream"`
	Outcome    string    `json:"outcome,omitempty"` // "" until there is a record
	Code       string    `json:"code,omitempty"`
	Message    string    `json:"message,omitempty"`
	Level      string    `json:"level"`
	DurationMS float64   `json:"duration_ms"`
	BytesIn    int64     `json:"bytes_in"`
	BytesFull  int64     `json:"bytes_full"`
	BytesSent  int64     `json:"bytes_sent"`
	TokensIn   int64     `json:"tokens_in"` // estimates, as are the next two
	TokensFull int64     `json:"tokens_full"`
	TokensSent int64     `json:"tokens_sent"`
	Rule       string    `json:"rule,omitempty"`   // that shortened the result
	Ref        string    `json:"ref,omitempty"`    // of the stored result
	Policy     string    `json:"policy,omitempty"` // which rules of the policy applied; only for those who may read everything
	Trace      string    `json:"trace,omitempty"`
	Parent     string    `json:"parent,omitempty"` // the id of the call whose script made this one

	Repairs   json.RawMessage  `json:"repairs,omitempty"`   // what was changed in the arguments
	Arguments *store.Arguments `json:"arguments,omitempty"` // before and after that; nil when nothing was

	Waits
	Script *Script `json:"script,omitempty"` // that the call runs; not in lists
}

// showCall shows a record without its arguments, which may be long. Callers do not see which rules of the policy applied: a model
// could only try to get around them.
func showCall(c store.Call, who access.Principal) Call {
	if !who.MayRead() {
		c.Policy = ""
	}
	var repairs json.RawMessage
	if json.Valid([]byte(c.Repairs)) { // else there were none
		repairs = json.RawMessage(c.Repairs)
	}
	return Call{
		Repairs: repairs,
		ID:      c.ID, At: c.At, Principal: c.Principal, Profile: c.Profile, Session: c.Session, Agent: c.Agent,
		MCPSession: c.MCPSession,
		Server:     string(c.Server), Tool: string(c.Tool), Upstream: c.Upstream, Outcome: c.Outcome, Code: c.Code, Message: c.Message,
		Level:      c.Level,
		DurationMS: float64(c.Duration.Microseconds()) / 1000, BytesIn: c.BytesIn, BytesFull: c.BytesFull, BytesSent: c.BytesSent,
		TokensIn: c.TokensIn, TokensFull: c.TokensFull, TokensSent: c.TokensSent, Rule: c.Rule, Ref: c.Ref, Trace: c.Trace,
		Policy: c.Policy, Parent: c.Parent,
	}
}

// showWhole shows a record with its arguments. Callers do not see values bound by the
// configuration.
func showWhole(c store.Call, who access.Principal) Call {
	out := showCall(c, who)
	out.Arguments = c.Arguments
	if out.Arguments != nil && !who.MayRead() {
		out.Arguments = &store.Arguments{Sent: c.Arguments.Sent}
	}
	return out
}

// CallPage is a page of calls, the newest first.
type CallPage struct {
	Calls []Call `json:"calls"`
	Next  string `json:"next_cursor,omitempty"` // the cursor of the next page; "" on the last
}

// flush writes the records of answered calls to the store, so that a caller finds its last call.
func (a *API) flush(ctx context.Context) {
	if a.Records != nil {
		a.Records.Flush(ctx)
	}
}

// ListCalls returns a page of calls by the filters of the route. It looks at so many calls at most,
// so that a rare match costs no more than a page; 0: all, as of those that are asked for with the oldest first.
func (a *API) ListCalls(ctx context.Context, who access.Principal, q url.Values, look int) (CallPage, error) {
	f, err := parseFilter(q, who)
	if err != nil {
		return CallPage{}, err
	}
	if f.waiting {
		return a.listWaiting(ctx, f)
	}
	a.flush(ctx)
	if f.Tool != "" {
		if none, err := a.Store.NarrowToTool(ctx, &f.CallFilter); none || err != nil {
			return CallPage{Calls: []Call{}}, err
		}
	}
	if look == 0 || !f.Sparse() || f.Oldest {
		return a.pageOf(ctx, f)
	}
	floor, err := a.Store.CallAt(ctx, f.CallFilter, look+1)
	if err != nil {
		return CallPage{}, err
	}
	after, _ := f.IDs()
	f.After = max(after, floor)
	page, err := a.pageOf(ctx, f)
	if page.Next == "" && floor != "" && f.After == floor {
		page.Next = floor + "0" // the next text: that call itself was not looked at
	}
	return page, err
}

func (a *API) pageOf(ctx context.Context, f callFilter) (CallPage, error) {
	out := CallPage{Calls: []Call{}}
	limit, err := f.page()
	if err != nil {
		return out, err
	}
	f.Limit = limit
	rows, err := a.Store.Calls(ctx, f.CallFilter)
	if err != nil {
		return out, err
	}
	for _, c := range rows {
		out.Calls = append(out.Calls, showCall(c, f.who))
	}
	if len(rows) == f.Limit {
		out.Next = rows[len(rows)-1].ID
	}
	return out, nil
}

// readRecord returns the record of a call. Callers read only their own.
func (a *API) readRecord(ctx context.Context, who access.Principal, id string) (Call, error) {
	c, err := a.Store.Call(ctx, id)
	if fault.Is(err, fault.NotFound) { // it may have ended just now
		a.flush(ctx)
		c, err = a.Store.Call(ctx, id)
	}
	if err == nil && !who.MayRead() && c.Principal != who.ID {
		err = fault.New(fault.NotFound, "not the caller's")
	}
	if err != nil {
		return Call{}, noCall(err, id)
	}
	return showWhole(c, who), nil
}

// noCall says in the same words of an unknown call and of another's that there is none.
func noCall(err error, id string) error {
	if fault.Is(err, fault.NotFound) {
		return fault.New(fault.NotFound, "there is no call %s", id)
	}
	return err
}

// asFault turns a server's error into one of ours, with its code and message.
func asFault(err error) error {
	var rpc *mcp.Error
	if !errors.As(err, &rpc) {
		return err
	}
	return fault.New(fault.UpstreamError, "the server answered: %s", rpc.Message).WithDetails(map[string]any{"code": rpc.Code})
}
