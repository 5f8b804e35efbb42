package restapi

import (
	"cmp"
	"context"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/store"
)

// ResultQuery chooses kept results; a zero field does not.
type ResultQuery struct {
	Tool   string // canonical
	Rule   string
	Cursor string // of the page before
	Limit  int    // 0: 50; at most 1000
}

// ResultHead is what is known of a kept result without reading it.
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

// ResultList is a page of kept results.
type ResultList struct {
	Results []ResultHead `json:"results"`
	Next    string       `json:"next_cursor,omitempty"`
}

// ListResults pages through the kept results, the newest first. A caller sees its own.
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

// KeptResult gives a kept result by its ref, or by the id of its call. A caller sees its own.
func (a *API) KeptResult(ctx context.Context, who access.Principal, refOrCall string) (Result, error) {
	kept, err := a.keptResult(ctx, who, refOrCall)
	if err != nil {
		return Result{}, err
	}
	return showResult(kept, who), nil
}

// headOf shows a result. Its tokens were counted when the call was recorded; one whose record
// is not written yet, or is gone, has none.
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
