// Package httpapi makes an MCP server of an HTTP API: it reads the API's description, lists
// an operation as a tool, and carries a call out as one HTTP request. What an operation
// looks like and how its request is built is up to package openapi; this one reads
// descriptions, dials and adds credentials. It dials public addresses only, unless
// the configuration says otherwise, and never reveals a credential.
//
//	api, err := httpapi.New(server, &httpapi.Options{MaxAnswer: 16 << 20})
//	result, err := api.Serve(ctx, &mcp.Request{Method: "tools/list"})
package httpapi

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/guard"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/openapi"
	"github.com/toolfit/toolfit/internal/gateway/telemetry"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/config"
)

// API is one HTTP API.
type API struct {
	who     string // how errors name it
	home    string // the origin of base; "" without one
	cfg     config.Server
	opts    Options
	client  *http.Client
	wallet  *wallet
	reading sync.Mutex // one reader of the description at a time; guards source
	source  source
	tools   atomic.Pointer[tools]
}

// Options change an API. The zero value is usable.
type Options struct {
	MaxAnswer   int64                                     // limit of a response body in bytes, uncompressed; 0: 16 MiB
	Trusted     func(origin string) bool                  // whether requests may go where a remote description says; nil: they may
	Credentials Credentials                               // in addition to those the description requires; nil: the configured headers
	Trace       *telemetry.Telemetry                      // requests carry its context; nil: off
	Fetch       func(http.RoundTripper) http.RoundTripper // how the description is fetched; nil: as all else
	Now         func() time.Time                          // nil: time.Now
}

// tools is one parsed description; the zero value before the first is read. It is immutable.
type tools struct {
	doc      *openapi.Document
	byName   map[string]*openapi.Operation
	list     []byte // the result of tools/list
	problems []openapi.Problem
	hosts    []string // see API.Hosts
	notes    []string // see API.Notes
}

// New makes an API of a server whose API is set. Nothing is read yet. Close ends it.
func New(cfg config.Server, opts *Options) (*API, error) {
	a := &API{who: "API " + string(cfg.ID), home: originOf(cfg.API.Base), cfg: cfg}
	if opts != nil {
		a.opts = *opts
	}
	a.opts.MaxAnswer = cmp.Or(a.opts.MaxAnswer, 16<<20)
	if a.opts.Credentials == nil {
		a.opts.Credentials = Static(cfg.Headers)
	}
	if a.opts.Now == nil {
		a.opts.Now = time.Now
	}
	a.tools.Store(&tools{})
	transport, err := guard.New(cfg.API.Allow, cfg.API.Base, cfg.API.Spec).Through(cfg.Proxy)
	if err != nil {
		return nil, err
	}
	a.client = &http.Client{Transport: transport, CheckRedirect: follow}
	a.wallet = &wallet{who: a.who, held: cfg.API.Auth, signed: cfg.OAuth != nil, client: a.client, trusts: a.trusts, now: a.opts.Now}
	a.source = source{spec: cfg.API.Spec, client: a.client, limit: maxDocument}
	a.source.inline, _ = cfg.API.Inline()
	if a.opts.Fetch != nil {
		a.source.client = &http.Client{Transport: a.opts.Fetch(transport), CheckRedirect: follow}
	}
	return a, nil
}

// Close ends the connections.
func (a *API) Close() { a.client.CloseIdleConnections() }

// Problems are the problems of the current description.
func (a *API) Problems() []openapi.Problem { return a.tools.Load().problems }

// Notes say which configured credentials the description does not use, and which required ones are missing.
func (a *API) Notes() []string { return a.tools.Load().notes }

// Count is the number of tools.
func (a *API) Count(ctx context.Context) (int, error) {
	t, err := a.current(ctx)
	if err != nil {
		return 0, err
	}
	return len(t.byName), nil
}

// Hello is what the API says about itself.
func (a *API) Hello(ctx context.Context) (json.RawMessage, error) {
	t, err := a.current(ctx)
	if err != nil {
		return nil, err
	}
	out := []byte(`{"protocolVersion":"` + mcp.Latest + `","capabilities":{"tools":{}},"serverInfo":{"name":`)
	out = rawjson.AppendString(out, t.doc.Title)
	return append(append(append(out, `,"version":`...), rawjson.AppendString(nil, t.doc.Version)...), "}}"...), nil
}

// Serve answers the requests of MCP.
func (a *API) Serve(ctx context.Context, req *mcp.Request) (json.RawMessage, error) {
	switch req.Method {
	case "tools/list":
		t, err := a.refresh(ctx)
		if err != nil {
			return nil, err
		}
		return t.list, nil
	case "tools/call":
		op, args, err := a.find(ctx, req.Params)
		if err != nil {
			return nil, err
		}
		return a.call(ctx, req.Caller, op, args)
	case "ping":
		return json.RawMessage("{}"), nil
	}
	return nil, mcp.Errorf(mcp.CodeMethodNotFound, "unknown method %s", req.Method)
}

// current returns the current description, and reads it first if there is none.
func (a *API) current(ctx context.Context) (*tools, error) {
	if t := a.tools.Load(); t.doc != nil {
		return t, nil
	}
	return a.refresh(ctx)
}

// refresh reads the description again. If that fails, the last good one stays.
func (a *API) refresh(ctx context.Context) (*tools, error) {
	a.reading.Lock()
	defer a.reading.Unlock()
	data, err := a.source.read(ctx, a.who)
	if errors.Is(err, errSame) {
		return a.tools.Load(), nil
	}
	if err != nil {
		return nil, err
	}
	t, err := a.read(data)
	if err != nil {
		a.source.etag = ""
		a.source.modified = "" // the next try reads it again
		return nil, err
	}
	a.tools.Store(t)
	return t, nil
}

// read makes tools of a description.
func (a *API) read(data []byte) (*tools, error) {
	cfg := a.cfg.API
	opts := &openapi.Options{Layout: openapi.Layout(cfg.Layout), Base: cfg.Base, URL: cfg.Spec, Variables: cfg.Variables}
	if a.source.inline != nil {
		opts.URL = ""
	}
	doc, err := openapi.Read(data, opts)
	if err != nil {
		f := fault.As(err)
		return nil, fault.New(f.Code, "%s: %s", a.who, f.Message).WithHint("%s", f.Hint)
	}
	ops, problems := doc.Operations(openapi.Filter{
		Tags: cfg.Tags, Paths: cfg.Paths, Methods: cfg.Methods, IDs: cfg.Operations, ReadOnly: cfg.ReadOnly,
	})
	t := &tools{doc: doc, byName: make(map[string]*openapi.Operation, len(ops)), problems: problems, notes: a.wallet.notes(doc, ops)}
	t.list = []byte(`{"tools":[`)
	for i, op := range ops {
		t.byName[op.Name] = op
		if i > 0 {
			t.list = append(t.list, ',')
		}
		t.list = append(t.list, op.Definition...)
	}
	t.list = append(t.list, "]}"...)
	if cfg.Remote() {
		t.hosts = a.hosts(doc, ops)
	}
	return t, nil
}

// find parses a call and finds its operation.
func (a *API) find(ctx context.Context, params json.RawMessage) (*openapi.Operation, json.RawMessage, error) {
	t, err := a.current(ctx)
	if err != nil {
		return nil, nil, err
	}
	name, _ := rawjson.String(rawjson.Get(params, "name"))
	op := t.byName[name]
	if op == nil {
		return nil, nil, mcp.Errorf(mcp.CodeInvalidParams, "%s has no operation %q any more", a.who, name)
	}
	args := rawjson.Get(params, "arguments")
	if rawjson.IsNull(args) {
		args = []byte("{}")
	}
	return op, args, nil
}

// prepare makes the request of a call, without the credentials that the description requires.
func (a *API) prepare(op *openapi.Operation, args json.RawMessage, header http.Header) (*openapi.Request, error) {
	req, err := op.Request(args)
	if err != nil {
		return nil, err
	}
	for name := range header {
		req.SetHeader(name, header.Get(name))
	}
	return req, nil
}

// Curl is the request of a call as a command line without secrets.
func (a *API) Curl(ctx context.Context, params json.RawMessage) (string, error) {
	op, args, err := a.find(ctx, params)
	if err != nil {
		return "", err
	}
	header, err := a.opts.Credentials.Header(ctx, "")
	if err != nil {
		return "", err
	}
	req, err := a.prepare(op, args, *header)
	if err != nil {
		return "", err
	}
	schemes, _ := a.wallet.choose(op)
	for _, s := range schemes {
		if a.wallet.covers(s) {
			continue
		}
		if err := req.Apply(s, "$"+s.Name); err != nil {
			return "", err
		}
	}
	return req.Curl(), nil
}

// call makes one request. If the API refuses credentials that can be renewed, it is sent once more.
func (a *API) call(ctx context.Context, caller string, op *openapi.Operation, args json.RawMessage) (json.RawMessage, error) {
	if err := a.trusts(op.Origin); err != nil {
		return nil, err
	}
	if a.cfg.OAuth != nil && op.Origin != a.home {
		return nil, fault.New(fault.Forbidden, "%s has this operation at %s, and tokens go to %s only", a.who, op.Origin, a.home)
	}
	for again := true; ; again = false {
		header, err := a.opts.Credentials.Header(ctx, caller)
		if err != nil {
			return nil, err
		}
		resp, err := a.send(ctx, op, args, *header)
		if err != nil {
			return nil, err
		}
		if resp.StatusCode == http.StatusUnauthorized {
			a.wallet.forget()
			if again && a.opts.Credentials.Refused(ctx, caller, header, resp.Header) {
				resp.Body.Close()
				continue
			}
		}
		if err := a.rejected(ctx, caller, op, header, resp); err != nil {
			resp.Body.Close()
			return nil, err
		}
		defer resp.Body.Close()
		body, err := readLimited(resp.Body, a.opts.MaxAnswer)
		if err != nil {
			return nil, explain(ctx, a.who, err)
		}
		return op.Result(resp.StatusCode, resp.Header, body), nil
	}
}

// rejected is the error of a refusal if somebody has to sign in; nil: it is an answer like others. What the API may
// have refused for another credential of ours says nothing about the sign-in.
func (a *API) rejected(ctx context.Context, caller string, op *openapi.Operation, sent *http.Header, resp *http.Response) error {
	s, ok := a.opts.Credentials.(SignIns)
	refused := resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden
	if !ok || !refused || a.wallet.adds(op) {
		return nil
	}
	return s.Rejected(ctx, caller, sent, resp.StatusCode, resp.Header)
}

func (a *API) send(ctx context.Context, op *openapi.Operation, args json.RawMessage, header http.Header) (*http.Response, error) {
	req, err := a.prepare(op, args, header)
	if err != nil {
		return nil, err
	}
	if err := a.wallet.authorise(ctx, op, req); err != nil {
		return nil, err
	}
	out, err := http.NewRequestWithContext(ctx, req.Method, req.URL, bytes.NewReader(req.Body))
	if err != nil {
		return nil, fault.New(fault.BadConfig, "%s: the request's address is not valid", a.who).WithHint("check base of %s", a.who)
	}
	out.Header = req.Header
	if out.Header.Get("User-Agent") == "" {
		out.Header.Set("User-Agent", "toolfit")
	}
	a.opts.Trace.Outgoing(ctx, out.Header)
	resp, err := a.client.Do(out)
	if err != nil {
		return nil, explain(ctx, a.who, err)
	}
	return resp, nil
}
