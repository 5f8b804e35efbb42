package broker

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/toolfit/toolfit/internal/base/fault"
)

// request is what a client asks for on behalf of a person.
type request struct {
	Client    string
	Redirect  string
	State     string
	Challenge string
	Resource  string // "": not said
}

const (
	maxQuery = 8 << 10
	maxState = 2 << 10
)

// challenge is a SHA-256 in base64, as PKCE has it.
var challenge = regexp.MustCompile(`^[A-Za-z0-9_-]{43}$`)

// single are the parameters that mean something, each at most once. Scopes are not among them: every token has the same.
var single = []string{
	"client_id", "redirect_uri", "response_type", "response_mode", "state", "code_challenge", "code_challenge_method", "resource",
	"request", "request_uri",
}

// parseRequest reads an authorization request. Whether client and redirect URI are good is not decided here.
func parseRequest(query string) (req request, err error) {
	wrong := func(why string, args ...any) (request, error) {
		return request{}, fault.New(fault.BadRequest, "the application has sent a wrong request: "+why, args...).
			WithHint("tell whoever made the application")
	}
	if len(query) > maxQuery {
		return wrong("it is longer than %d bytes", maxQuery)
	}
	q, err := url.ParseQuery(query)
	if err != nil {
		return wrong("it cannot be read")
	}
	for _, name := range single {
		if len(q[name]) > 1 {
			return wrong("%s is there twice", name)
		}
	}
	req = request{
		Client: q.Get("client_id"), Redirect: q.Get("redirect_uri"), State: q.Get("state"), Challenge: q.Get("code_challenge"),
		Resource: strings.TrimSuffix(q.Get("resource"), "/"),
	}
	switch {
	case req.Client == "" || req.Redirect == "":
		return wrong("it needs client_id and redirect_uri")
	case q.Get("response_type") != "code":
		return wrong("response_type must be code")
	case q.Has("response_mode") && q.Get("response_mode") != "query":
		return wrong("response_mode must be query")
	case q.Has("request") || q.Has("request_uri"):
		return wrong("request objects are not accepted")
	case q.Get("code_challenge_method") != "S256" || !challenge.MatchString(req.Challenge):
		return wrong("it needs PKCE: code_challenge with code_challenge_method S256")
	case len(req.State) > maxState:
		return wrong("its state is longer than %d bytes", maxState)
	}
	return req, nil
}

// readRequest reads an authorization request and finds its client. Errors are for the person: before client and redirect
// URI are known to be good, nothing may go there, and before somebody has clicked, nothing does.
func (b *Broker) readRequest(r *http.Request) (request, *client, error) {
	req, err := parseRequest(r.URL.RawQuery)
	if err != nil {
		return request{}, nil, err
	}
	c, err := b.client(r.Context(), req.Client)
	if err != nil {
		return request{}, nil, err
	}
	if !isOneOf(c.Redirects, req.Redirect) {
		return request{}, nil, fault.New(fault.BadRequest, "%s wants to be answered at an address that is not its own", c.shown()).
			WithHint("do not sign in; if you trust the application, tell whoever made it")
	}
	if req.Resource == "" {
		req.Resource = b.all
	}
	if !b.IsResource(req.Resource) {
		return request{}, nil, fault.New(fault.BadRequest, "%s wants to use %.200q, which is not here", c.shown(), req.Resource).
			WithHint("tell whoever made the application")
	}
	return req, c, nil
}
