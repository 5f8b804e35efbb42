package call

import (
	"cmp"
	"context"
	"encoding/json"
	"strconv"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/project"
	"github.com/toolfit/toolfit/internal/state/store"
)

// fetchBudget is the token budget of a fetch if the profile has none: as much as clients take without a warning.
const fetchBudget = 6500

// charsPerToken is a little more than the characters of one token, so that a page limited by both stays within both.
const charsPerToken = 5

// Fetched begins the message of a record of fetch_result; the mask or program follows.
const Fetched = "fetched: "

// fetching are the arguments of fetch_result.
type fetching struct {
	Ref    string          `json:"ref"`
	Fields project.Wanted  `json:"fields"`
	JQ     string          `json:"jq"`
	Offset int             `json:"offset"`
	Limit  int             `json:"limit"`
	Wait   json.RawMessage `json:"wait"`
	Cancel bool            `json:"cancel"`
}

// fetch is the tool fetch_result: it returns part of a full result that was stored for the caller.
func (c *Caller) fetch(ctx context.Context, req *Request, args json.RawMessage, rec *recording) (json.RawMessage, error) {
	rec.fetch = true
	rec.call.Ref, _ = rawjson.String(rawjson.Get(args, "ref"))
	var f fetching
	if err := rawjson.Decode(args, &f); err != nil {
		return nil, fault.New(fault.BadArguments, "the arguments do not fit: %w", err)
	}
	view, err := c.tools.View(req.Profile)
	if err != nil {
		return nil, err
	}
	if isHandle(f.Ref) && c.opts.Waiting != nil {
		raw, ref, err := c.collect(ctx, req, f)
		if err != nil || raw != nil {
			return raw, err
		}
		f.Ref = ref
	}
	stored, err := c.storedResult(ctx, req, f.Ref)
	if err != nil {
		return nil, err
	}
	rec.call.Rule = stored.Rule
	found, err := c.choose(ctx, req.Principal.ID, cleaned(&view.Results, stored.Body), f)
	if err != nil {
		return nil, err
	}
	rec.call.Message = Fetched + cut(found.Mask, 1000)
	budget := cmp.Or(req.Budget, view.Results.How.Budget, fetchBudget)
	if req.MaxChars > 0 {
		budget = min(budget, max(req.MaxChars/charsPerToken, 1))
	}
	p, err := project.PageOf(found.Value, f.Offset, f.Limit, budget)
	if err != nil {
		return nil, fault.New(fault.BadArguments, "%w", err)
	}
	return pageResult(p, found), nil
}

// storedResult is the stored result that the caller's ref names.
func (c *Caller) storedResult(ctx context.Context, req *Request, ref string) (store.Result, error) {
	if c.opts.Results == nil {
		return store.Result{}, fault.New(fault.NotFound, "no results are kept here")
	}
	r, err := c.opts.Results.Result(ctx, req.Principal.ID, ref)
	if err == nil && r.Err != nil {
		err = r.Err
	}
	return r, err
}

// choose returns the part of a result that was asked for.
func (c *Caller) choose(ctx context.Context, who string, result []byte, f fetching) (found project.Found, err error) {
	switch {
	case len(f.Fields) > 0 && f.JQ != "":
		return found, fault.New(fault.BadArguments, "give fields or jq, not both")
	case f.JQ != "" && c.opts.JQ == nil:
		return found, fault.New(fault.BadArguments, "jq programs are not run here; use fields")
	case f.JQ != "":
		found.Mask = f.JQ
		found.Value, err = c.opts.JQ(ctx, who, f.JQ, project.Body(result))
		return found, err
	case len(f.Fields) > 0:
		return project.Fetch(result, f.Fields)
	}
	return project.Found{Value: project.Body(result)}, nil
}

// pageResult is a piece of a value as a tool's result.
func pageResult(p project.Page, found project.Found) json.RawMessage {
	body := append([]byte(`{"value":`), p.Value...)
	if p.Next > 0 {
		body = strconv.AppendInt(append(body, `,"next_offset":`...), int64(p.Next), 10)
	}
	if p.Cut {
		body = append(body, `,"note":"something here is too long to be shown whole; ask for it alone by fields, such as items[3:4](name)"`...)
	}
	if len(found.Unknown) > 0 {
		unknown, _ := json.Marshal(map[string][]string{"unknown": found.Unknown, "known": found.Known}) // strings only
		body = append(append(body, ','), unknown[1:len(unknown)-1]...)
	}
	return textAndStructured(append(body, '}'))
}
