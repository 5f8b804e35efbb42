package restapi

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/toolfit/toolfit/internal/access"
	"github.com/toolfit/toolfit/internal/call"
	"github.com/toolfit/toolfit/internal/fault"
	"github.com/toolfit/toolfit/internal/prompt"
	"github.com/toolfit/toolfit/internal/tokens"
	"github.com/toolfit/toolfit/schema"
)

// Prompt is the tools of a profile as text.
type Prompt struct {
	Format   prompt.Format `json:"format"`
	Text     string        `json:"text"`
	Tokens   int           `json:"tokens"` // estimated
	SetAside []SetAside    `json:"setAside,omitempty"`
}

// SetAside is a tool that the dialect cannot carry, and why.
type SetAside struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// prompt writes the tools of a profile, as JSON or as the bare text.
func (a *API) prompt(r *http.Request, who access.Principal) (any, error) {
	v, err := a.view(r, who)
	if err != nil {
		return nil, err
	}
	req := call.PromptRequest{Principal: who, Profile: v.Profile}
	if req.Variant, err = variant(r); err != nil {
		return nil, err
	}
	if session := r.URL.Query().Get("session"); session != "" {
		req.Session = who.ID + "/" + session
	}
	page, err := a.Caller.Prompt(r.Context(), req)
	if err != nil {
		return nil, err
	}
	if accepts(r, "text/plain") {
		return stream(func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			w.Write([]byte(page.Text)) // a client that has left needs no answer
		}), nil
	}
	p := Prompt{Format: req.Variant.Format, Text: page.Text, Tokens: tokens.Estimate(page.Text)}
	for _, t := range page.Refused {
		p.SetAside = append(p.SetAside, SetAside{t.Name, t.Err.Error()})
	}
	return p, nil
}

// variant reads how the tools are to be written.
func variant(r *http.Request) (v call.Variant, err error) {
	q := r.URL.Query()
	v = call.Variant{Format: prompt.Format(q.Get("format")), Dialect: schema.Dialect(q.Get("dialect")), Language: q.Get("language")}
	if v.Format == "" {
		v.Format = prompt.TypeScript
	}
	if v.Language == "" {
		v.Language = preferred(strings.Join(r.Header.Values("Accept-Language"), ","))
	}
	if v.Budget, err = number(r, "budget"); err != nil {
		return v, err
	}
	if text := q.Get("groups"); text != "" {
		if v.Groups, err = strconv.ParseBool(text); err != nil {
			return v, fault.New(fault.BadRequest, "groups must be true or false")
		}
	}
	return v, nil
}

// preferred is the language that a reader likes best, of an Accept-Language; "" for any.
func preferred(accept string) string {
	best, most := "", 0.0
	for part := range strings.SplitSeq(accept, ",") {
		tag, params, weighed := strings.Cut(part, ";")
		weight := 1.0
		if weighed {
			_, text, _ := strings.Cut(params, "=")
			weight, _ = strconv.ParseFloat(strings.TrimSpace(text), 64) // what is no number counts nothing
		}
		if tag = strings.TrimSpace(tag); tag != "*" && weight > most && weight <= 1 {
			best, most = tag, weight
		}
	}
	return best
}
