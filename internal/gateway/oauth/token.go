package oauth

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Token is what an authorization server gives out.
type Token struct {
	Access  string    `json:"access"`
	Refresh string    `json:"refresh,omitempty"`
	Scopes  []string  `json:"scopes,omitempty"` // that were granted; none: those that were asked for
	Issued  time.Time `json:"issued"`
	Expires time.Time `json:"expires,omitzero"` // zero: it is not known
}

// due tells whether another token is needed: shortly before it expires.
func (t *Token) due(now time.Time) bool {
	early := min(time.Minute, t.Expires.Sub(t.Issued)/10)
	return !t.Expires.IsZero() && !now.Before(t.Expires.Add(-early))
}

// RefusedError is the answer of an authorization server that gives no token.
type RefusedError struct {
	Code   string // as in RFC 6749, section 5.2; "": it gave none
	Status int
	err    error // why there was no answer
}

func (e *RefusedError) Error() string {
	if e.err != nil {
		return "it cannot be reached: " + e.err.Error()
	}
	return fmt.Sprintf("HTTP %d %s", e.Status, shownCode(e.Code))
}

func (e *RefusedError) Unwrap() error { return e.err }

// Passes tells whether it may be otherwise soon: the server was away, busy or broken.
func (e *RefusedError) Passes() bool {
	return e.err != nil || e.Status >= 500 || e.Status == http.StatusTooManyRequests || e.Status == http.StatusRequestTimeout ||
		e.Code == "temporarily_unavailable" || e.Code == "server_error" || e.Code == "slow_down"
}

// isRefused tells whether an authorization server has answered with the code.
func isRefused(err error, code string) bool {
	var refused *RefusedError
	return errors.As(err, &refused) && refused.Code == code
}

// errorCode is how servers spell their errors. Other text of theirs is not shown.
var errorCode = regexp.MustCompile(`^[a-z_]{1,60}$`)

func shownCode(code string) string {
	if errorCode.MatchString(code) {
		return code
	}
	return "without a reason"
}

// The types of tokens.
const (
	bearerType = "bearer"
	noAccess   = "n_a" // it is no access token
)

// ask sends a request for a token. The resource is in every one.
func (c *Client) ask(ctx context.Context, f *Found, r *Registration, form url.Values) (*Token, error) {
	return c.askFor(ctx, f, r, form, bearerType)
}

// askFor is ask for a token of a type.
func (c *Client) askFor(ctx context.Context, f *Found, r *Registration, form url.Values, kind string) (*Token, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	if f.Resource != "" {
		form.Set("resource", f.Resource)
	}
	header := http.Header{}
	if err := c.prove(f, r, form, header); err != nil {
		return nil, err
	}
	began := time.Now()
	status, body, err := c.postForm(ctx, f.Token, form, header)
	if err != nil {
		return nil, &RefusedError{err: err}
	}
	return readToken(status, body, began, kind)
}

// prove adds to a request who we are.
func (c *Client) prove(f *Found, r *Registration, form url.Values, header http.Header) error {
	switch r.Method {
	case methodBasic:
		pair := url.QueryEscape(r.ClientID) + ":" + url.QueryEscape(r.Secret)
		header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(pair)))
	case methodPost:
		form.Set("client_id", r.ClientID)
		form.Set("client_secret", r.Secret)
	case methodKey:
		return c.assert(f, r, form)
	default:
		form.Set("client_id", r.ClientID)
	}
	return nil
}

// readToken reads the answer of a token endpoint. Some say with status 200 that they refuse.
func readToken(status int, body []byte, began time.Time, kind string) (*Token, error) {
	var answer struct {
		Access  string          `json:"access_token"`
		Refresh string          `json:"refresh_token"`
		Type    string          `json:"token_type"`
		Seconds json.RawMessage `json:"expires_in"`
		Scope   string          `json:"scope"`
		Error   string          `json:"error"`
	}
	err := json.Unmarshal(body, &answer)
	if status != http.StatusOK || err != nil || answer.Error != "" || answer.Access == "" {
		return nil, &RefusedError{Code: answer.Error, Status: status}
	}
	if answer.Type != "" && !strings.EqualFold(answer.Type, kind) || strings.ContainsFunc(answer.Access, notInHeader) {
		return nil, &RefusedError{Code: "unsupported_token_type", Status: status}
	}
	t := &Token{Access: answer.Access, Refresh: answer.Refresh, Scopes: strings.Fields(answer.Scope), Issued: began}
	seconds, err := strconv.ParseFloat(strings.Trim(string(answer.Seconds), `"`), 64)
	if err == nil && seconds > 0 && seconds < 1e9 {
		t.Expires = began.Add(time.Duration(seconds * float64(time.Second)))
	}
	return t, nil
}

// notInHeader tells whether a character would break a header.
func notInHeader(r rune) bool { return r <= ' ' || r >= 0x7f }

// Refresh renews a token. The new one has the old refresh token if the server gives no other.
func (c *Client) Refresh(ctx context.Context, f *Found, r *Registration, old *Token) (*Token, error) {
	form := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {old.Refresh}}
	t, err := c.ask(ctx, f, r, form)
	if err != nil {
		return nil, err
	}
	if t.Refresh == "" {
		t.Refresh = old.Refresh
	}
	if len(t.Scopes) == 0 {
		t.Scopes = old.Scopes
	}
	return t, nil
}

// Revoke ends what a person has granted, as far as the server lets us.
func (c *Client) Revoke(ctx context.Context, f *Found, r *Registration, t *Token) error {
	if f.Revoke == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	token := t.Refresh
	hint := "refresh_token"
	if token == "" {
		token = t.Access
		hint = "access_token"
	}
	form := url.Values{"token": {token}, "token_type_hint": {hint}}
	header := http.Header{}
	if err := c.prove(f, r, form, header); err != nil {
		return err
	}
	status, _, err := c.postForm(ctx, f.Revoke, form, header)
	if err == nil && status/100 != 2 {
		err = &RefusedError{Status: status}
	}
	return err
}
