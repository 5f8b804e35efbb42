package restapi

import (
	"cmp"
	"context"
	"strconv"
	"strings"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/core/prompt"
	"github.com/toolfit/toolfit/internal/core/tokens"
	"github.com/toolfit/toolfit/internal/gateway/call"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/schema"
)

// Prompt is the tools of a profile as text.
type Prompt struct {
	Format   prompt.Format `json:"format"`
	Text     string        `json:"text"`
	Tokens   int           `json:"tokens"`      // estimated
	List     int           `json:"tokens_list"` // of the tools as MCP clients get them
	Detail   Detail        `json:"detail"`
	SetAside []SetAside    `json:"setAside,omitempty"`
}

// Detail counts tools by how much of them is written.
type Detail struct {
	Full int `json:"full"`
	Line int `json:"line"` // their signature
	Name int `json:"name"`
	None int `json:"none"`
}

func detailOf(plan prompt.Plan) (d Detail) {
	for _, p := range plan {
		switch p.Tier {
		case prompt.Full:
			d.Full++
		case prompt.Line:
			d.Line++
		case prompt.Named:
			d.Name++
		default:
			d.None++
		}
	}
	return d
}

// PromptQuery says which tools to write, and how.
type PromptQuery struct {
	Profile string // "": the caller's own
	Session string // of the caller, within which a text only grows; "": it is made anew
	call.Variant
}

// SetAside is a tool that the dialect cannot express, and why.
type SetAside struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// prompt answers with JSON or plain text.
func (a *API) prompt(q *request) (any, error) {
	how, err := variant(q)
	if err != nil {
		return nil, err
	}
	p, err := a.WritePrompt(q.Context(), q.who, PromptQuery{q.query.Get("profile"), q.query.Get("session"), how})
	if err == nil && accepts(q.Request, "text/plain") {
		return text(p.Text), nil
	}
	return p, err
}

// WritePrompt writes the tools of a profile as text for a model.
func (a *API) WritePrompt(ctx context.Context, who access.Principal, in PromptQuery) (Prompt, error) {
	v, err := a.viewOf(who, in.Profile)
	if err != nil {
		return Prompt{}, err
	}
	req := call.PromptRequest{Principal: who, Profile: v.Profile, Variant: in.Variant}
	req.Variant.Format = cmp.Or(req.Variant.Format, prompt.TypeScript)
	if in.Session != "" {
		req.Session = who.ID + "/" + in.Session
	}
	page, err := a.Caller.Prompt(ctx, req)
	if err != nil {
		return Prompt{}, err
	}
	p := Prompt{Format: req.Variant.Format, Text: page.Text, Tokens: tokens.Estimate(page.Text), Detail: detailOf(page.Plan)}
	if v, err := a.Catalog.View(v.Profile); err == nil { // it may have been listed meanwhile
		p.List = tokens.Estimate(v.As(who).List())
	}
	for _, t := range page.Refused {
		p.SetAside = append(p.SetAside, SetAside{t.Name, t.Err.Error()})
	}
	return p, nil
}

// variant reads how to write the tools.
func variant(r *request) (v call.Variant, err error) {
	q := r.query
	v = call.Variant{Format: prompt.Format(q.Get("format")), Dialect: schema.Dialect(q.Get("dialect")), Language: q.Get("language")}
	if v.Language == "" {
		v.Language = preferred(strings.Join(r.Header.Values("Accept-Language"), ","))
	}
	v.Groups, err = strconv.ParseBool(cmp.Or(q.Get("groups"), "false"))
	if err != nil {
		return v, fault.New(fault.BadRequest, "groups must be true or false")
	}
	v.Budget, err = number(q, "budget", 1, maxNumber)
	return v, err
}

// preferred returns the preferred language of an Accept-Language header; "": any.
func preferred(accept string) string {
	best := ""
	most := 0.0
	for part := range strings.SplitSeq(accept, ",") {
		tag, params, weighed := strings.Cut(part, ";")
		weight := 1.0
		if weighed {
			_, text, _ := strings.Cut(params, "=")
			weight, _ = strconv.ParseFloat(strings.TrimSpace(text), 64) // what is no number counts nothing
		}
		tag = strings.TrimSpace(tag)
		if tag != "*" && weight > most && weight <= 1 {
			best = tag
			most = weight
		}
	}
	return best
}
