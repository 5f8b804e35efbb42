package recall

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/origin"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/state/config"
)

// remote is a service reached over HTTP.
type remote struct {
	name    string
	base    string
	timeout time.Duration
	client  *http.Client
	limit   int64 // bytes of one answer
}

// newClient returns the client for all services. It reuses connections and follows no
// redirects.
func newClient() *http.Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConns = 256
	t.MaxIdleConnsPerHost = 128
	return &http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// question is one request to a service.
type question struct {
	method   string
	path     string
	body     []byte
	override string // intended method, if another one had to be used
	account  Account
}

// answered is the problem for a status that is not 2xx; code is used for a 404.
func (s *remote) answered(status int, body []byte, code string) *problem {
	p := broken(s.name, say("reason.status", status), fmt.Errorf("%s answered %d: %.200q", s.name, status, body))
	switch status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		p.status = http.StatusBadRequest
	case http.StatusUnauthorized, http.StatusForbidden:
		p.status = http.StatusForbidden
	case http.StatusNotFound:
		p.status = http.StatusNotFound
		p.code = code
	}
	if p.status != http.StatusBadGateway && rawjson.Check(body) == nil && utf8.Valid(body) {
		p.details = details{"service": s.name, "answer": raw(body)}
	}
	return p
}

// ask sends a request and returns the response, a JSON object. Statuses other than 2xx are
// problems; missing is the code for a 404.
func (s *remote) ask(ctx context.Context, q question, missing string) ([]byte, error) {
	if leadsElsewhere(q.path) {
		return nil, notFound(missing, details{"service": s.name, "path": clipped(q.path)})
	}
	inner, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(inner, q.method, s.base+q.path, bytes.NewReader(q.body))
	if err != nil {
		return nil, broken(s.name, say("reason.address"), err)
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("X-Account-Id", q.account.ID)
	req.Header.Set("X-Account-Type", q.account.Type)
	if q.body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if q.override != "" {
		req.Header.Set("X-Http-Method-Override", q.override)
	}
	status, body, err := s.send(req)
	switch {
	case ctx.Err() != nil:
		return nil, &problem{status: fault.Gone, cause: ctx.Err()} // canceled by the caller, not an error of the service
	case errors.Is(err, context.DeadlineExceeded):
		return nil, broken(s.name, say("reason.timeout", s.timeout), err)
	case neverReached(err):
		return nil, broken(s.name, say("reason.unreachable"), err)
	case err != nil:
		return nil, broken(s.name, say("reason.cut"), err)
	case int64(len(body)) > s.limit:
		return nil, broken(s.name, say("reason.large", s.limit), nil)
	case status < 200 || status > 299:
		return nil, s.answered(status, body, missing)
	}
	body = bytes.TrimPrefix(body, byteOrderMark)
	if err := rawjson.Check(body); err != nil || kindOf(body) != "object" {
		return nil, broken(s.name, say("reason.notObject"), err)
	}
	if !utf8.Valid(body) { // passed on, it would be read as other text
		return nil, broken(s.name, say("reason.notUTF8"), nil)
	}
	return body, nil
}

// byteOrderMark precedes UTF-8 in some files. JSON parsers may skip it.
var byteOrderMark = []byte("\ufeff")

// neverReached reports whether a request failed before it reached the service.
func neverReached(err error) bool {
	var dial *net.OpError
	var certificate *tls.CertificateVerificationError
	return errors.As(err, &dial) && dial.Op == "dial" || errors.As(err, &certificate)
}

// leadsElsewhere reports whether the path has a . or .. segment, which servers resolve to another route.
func leadsElsewhere(path string) bool {
	segments := strings.Split(path, "/")
	return slices.Contains(segments, ".") || slices.Contains(segments, "..")
}

// send sends the request and reads the whole response, so that the connection can be reused.
func (s *remote) send(req *http.Request) (status int, body []byte, err error) {
	res, err := s.client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()
	body, err = io.ReadAll(io.LimitReader(res.Body, s.limit+1))
	return res.StatusCode, body, err
}

// Reach checks that a service responds to HTTP, with any status.
func Reach(ctx context.Context, u config.RecallUpstream) error {
	client := newClient()
	defer client.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(ctx, u.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.URL+"/health/ready", nil)
	if err != nil {
		return fmt.Errorf("reach %s: %w", origin.Shown(u.URL), err)
	}
	res, err := client.Do(req)
	if err != nil {
		var sent *url.Error
		if errors.As(err, &sent) {
			err = sent.Err // its message would repeat the URL
		}
		return fmt.Errorf("reach %s: %w", origin.Shown(u.URL), err)
	}
	return res.Body.Close()
}
