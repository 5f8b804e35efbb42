package restapi

import (
	"cmp"
	"context"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/store"
)

// ResultQuery selects stored results; zero fields match all.
type ResultQuery struct {
	Tool   string // canonical
	Rule   string
	Cursor string // of the page before
	Limit  int    // 0: 50; at most 1000
}

// ResultHead describes a stored result.
type ResultHead struct {
	Ref        string    `json:"ref"`
	Call       string    `json:"call"`
	Server     string    `json:"server"`
	Tool       string    `json:"tool"`
	Profile    string    `json:"profile"`
	Session    string    `json:"session,omitempty"`
	Rule       string    `json:"rule,omitempty"`
	At         time.Time `json:"at"`
	Expires    time.Time `json:"expires,omitzero"`
	Bytes      int64     `json:"bytes"`                 // of arguments and result, as they are kept
	TokensFull int64     `json:"tokens_full,omitempty"` // estimates, from the record of the call, while there is one
	TokensSent int64     `json:"tokens_sent,omitempty"`
}

type ResultList struct {
	Results []ResultHead `json:"results"`
	Next    string       `json:"next_cursor,omitempty"`
}

// ListResults pages through stored results, newest first. Callers see their own.
func (a *API) ListResults(ctx context.Context, who access.Principal, in ResultQuery) (ResultList, error) {
	out := ResultList{Results: []ResultHead{}}
	if !isText(in.Tool + in.Rule + in.Cursor) {
		return out, fault.New(fault.BadRequest, "the filter must be UTF-8 text without NUL")
	}
	f := store.ResultFilter{Tool: in.Tool, Rule: in.Rule, Before: in.Cursor, Limit: cmp.Or(in.Limit, defaultPage), Heads: true}
	if !who.MayRead() {
		f.Owner = who.ID
	}
	rows, err := a.Store.Results(ctx, f)
	if err != nil {
		return out, err
	}
	for _, r := range rows {
		out.Results = append(out.Results, a.headOf(ctx, r))
	}
	if len(rows) == f.Limit {
		out.Next = rows[len(rows)-1].Cursor()
	}
	return out, nil
}

// StoredResult returns a stored result by its ref or the id of its call. Callers see their own.
func (a *API) StoredResult(ctx context.Context, who access.Principal, refOrCall string) (Result, error) {
	kept, err := a.keptResult(ctx, who, refOrCall)
	if err != nil {
		return Result{}, err
	}
	return showResult(kept, who), nil
}

// headOf describes a result. Its tokens are those of the call's record, if there is one.
func (a *API) headOf(ctx context.Context, r store.Result) ResultHead {
	h := ResultHead{
		Ref: r.Ref, Call: r.Call, Server: string(r.Server), Tool: string(r.Tool), Profile: r.Profile, Session: r.Session, Rule: r.Rule,
		At: r.At, Expires: r.Expires, Bytes: r.Size,
	}
	if c, err := a.Store.Call(ctx, r.Call); err == nil {
		h.TokensFull = c.TokensFull
		h.TokensSent = c.TokensSent
	}
	return h
}
