package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/core/openapi"
	"github.com/toolfit/toolfit/internal/state/config"
)

// wallet holds the credentials of an API and the tokens that they were exchanged for.
type wallet struct {
	who    string
	held   map[string]config.Credential
	signed bool // requests have an OAuth token already
	client *http.Client
	trusts func(host string) error // nil: the description may name any host
	now    func() time.Time

	mu     sync.Mutex
	tokens map[string]*token // by address and scopes
}

// token is an access token, or one being asked for.
type token struct {
	ready   chan struct{} // closed when value or err is set
	value   string
	expires time.Time
	err     error
}

// authorise adds the credentials of the operation's first alternative that the configuration can satisfy.
func (w *wallet) authorise(ctx context.Context, op *openapi.Operation, req *openapi.Request) error {
	schemes, missing := w.choose(op)
	if missing != "" {
		return fault.New(fault.BadConfig, "%s needs a credential for %s", w.who, missing).WithHint("add it to auth of %s", w.who)
	}
	for _, s := range schemes {
		if w.covers(s) {
			continue
		}
		secret, err := w.secret(ctx, s)
		if err != nil {
			return err
		}
		if err := req.Apply(s, secret); err != nil {
			return err
		}
	}
	return nil
}

// covers tells whether the OAuth token of a request is what a scheme wants.
func (w *wallet) covers(s openapi.Scheme) bool {
	_, own := w.held[s.Name]
	return w.signed && !own && (s.Kind == openapi.Bearer || s.Kind == openapi.OAuth2 || s.Kind == openapi.OpenID)
}

// adds tells whether requests of an operation have a credential in addition to those of Options.
func (w *wallet) adds(op *openapi.Operation) bool {
	schemes, _ := w.choose(op)
	return slices.ContainsFunc(schemes, func(s openapi.Scheme) bool { return !w.covers(s) })
}

// choose is the operation's first alternative that the configuration can satisfy; if there is none, it names what is missing.
func (w *wallet) choose(op *openapi.Operation) (schemes []openapi.Scheme, missing string) {
	var names []string
	for _, schemes := range op.Security() {
		name := w.missing(schemes)
		if name == "" {
			return schemes, ""
		}
		names = append(names, name)
	}
	return nil, strings.Join(names, " or ")
}

// notes compares the credentials with those the description requires.
func (w *wallet) notes(doc *openapi.Document, ops []*openapi.Operation) (notes []string) {
	var known []string
	for _, s := range doc.Schemes() {
		known = append(known, s.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(w.held)) {
		switch {
		case slices.Contains(known, name):
		case len(known) == 0:
			notes = append(notes, fmt.Sprintf("auth.%s is not used: the description has no security schemes; send a credential by headers", name))
		default:
			notes = append(notes, fmt.Sprintf("auth.%s is not used: the description has no security scheme of this name; there are: %s",
				name, strings.Join(known, ", ")))
		}
	}
	lacking := map[string]int{}
	for _, op := range ops {
		if _, missing := w.choose(op); missing != "" {
			lacking[missing]++
		}
	}
	for _, missing := range slices.Sorted(maps.Keys(lacking)) {
		notes = append(notes, fmt.Sprintf("%d of %d tools need a credential for %s; add it to auth", lacking[missing], len(ops), missing))
	}
	return notes
}

// missing returns the first scheme without a configured credential; "" if there is none.
func (w *wallet) missing(schemes []openapi.Scheme) string {
	for _, s := range schemes {
		c, ok := w.held[s.Name]
		switch {
		case w.covers(s):
		case !ok, s.Kind == openapi.Other:
			return s.Name
		case s.Kind == openapi.Basic && c.User == "" && c.Value == "":
			return s.Name
		case s.Kind != openapi.Basic && c.Value == "" && (c.ClientID == "" || s.TokenURL == "" && c.TokenURL == ""):
			return s.Name
		}
	}
	return ""
}

// secret is the credential that a request sends for a scheme.
func (w *wallet) secret(ctx context.Context, s openapi.Scheme) (string, error) {
	c := w.held[s.Name]
	switch {
	case c.Value != "":
		return c.Value, nil
	case s.Kind == openapi.Basic:
		return c.User + ":" + c.Password, nil
	}
	address := s.TokenURL
	scopes := s.Scopes
	if c.TokenURL != "" {
		address = c.TokenURL
	} else if err := w.trusts(originOf(address)); err != nil {
		return "", err
	}
	if len(c.Scopes) > 0 {
		scopes = c.Scopes
	}
	return w.token(ctx, c, address, strings.Join(scopes, " "))
}

// early is how long before it expires a token is replaced.
const early = 30 * time.Second

// token returns a token that does not expire soon. Calls that need a new one share one request.
func (w *wallet) token(ctx context.Context, c config.Credential, address, scopes string) (string, error) {
	key := address + " " + c.ClientID + " " + scopes
	w.mu.Lock()
	t := w.tokens[key]
	if t == nil || t.stale(w.now()) {
		t = &token{ready: make(chan struct{})}
		if w.tokens == nil {
			w.tokens = map[string]*token{}
		}
		w.tokens[key] = t
		go w.ask(context.WithoutCancel(ctx), t, c, address, scopes)
	}
	w.mu.Unlock()
	select {
	case <-t.ready:
		return t.value, t.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// stale tells whether a token can no longer be used.
func (t *token) stale(now time.Time) bool {
	select {
	case <-t.ready:
		return t.err != nil || now.After(t.expires.Add(-early))
	default:
		return false
	}
}

// forget drops the tokens, after the API refused one.
func (w *wallet) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tokens = nil
}

// ask exchanges client credentials for a token.
func (w *wallet) ask(ctx context.Context, t *token, c config.Credential, address, scopes string) {
	defer close(t.ready)
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	form := url.Values{"grant_type": {"client_credentials"}}
	if scopes != "" {
		form.Set("scope", scopes)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(form.Encode()))
	if err != nil {
		t.err = fault.New(fault.BadConfig, "%s: the token's address is not valid", w.who)
		return
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "application/json")
	req.SetBasicAuth(url.QueryEscape(c.ClientID), url.QueryEscape(c.ClientSecret))
	resp, err := w.client.Do(req)
	if err != nil {
		t.err = explain(ctx, "the token of "+w.who, err)
		return
	}
	defer resp.Body.Close()
	data, err := readLimited(resp.Body, 1<<20)
	var answer struct {
		Token   string `json:"access_token"`
		Seconds int64  `json:"expires_in"`
		Error   string `json:"error"`
		Why     string `json:"error_description"`
	}
	if err == nil {
		err = json.Unmarshal(data, &answer)
	}
	if err != nil || answer.Token == "" {
		t.err = fault.New(fault.Unauthorized, "%s: no token was given: HTTP %d %.100s %.200s", w.who, resp.StatusCode, answer.Error, answer.Why).
			WithHint("check clientId, clientSecret and scopes of auth")
		return
	}
	if answer.Seconds <= 0 {
		answer.Seconds = 3600
	}
	t.value = answer.Token
	t.expires = w.now().Add(time.Duration(answer.Seconds) * time.Second)
}
