package restapi

import (
	"net/http"
	"strconv"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/gateway/call"
	"github.com/toolfit/toolfit/internal/state/access"
)

// search finds tools by what they do.
func (a *API) search(r *http.Request, who access.Principal) (any, error) {
	v, err := a.view(r, who)
	if err != nil {
		return nil, err
	}
	query := call.Query{Text: r.URL.Query().Get("q"), Detail: call.Detail(r.URL.Query().Get("detail"))}
	if query.Limit, err = number(r, "limit"); err != nil {
		return nil, err
	}
	return a.Caller.Search(r.Context(), who, v.Profile, query)
}

// number reads a parameter that is a whole number; 0 without it.
func number(r *http.Request, name string) (int, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, fault.New(fault.BadRequest, "%s must be a whole number from 1 on", name)
	}
	return n, nil
}
