package mcp

import (
	"context"
	"encoding/json"
)

// modern serves a request that says all of itself.
func (p *pipe) modern(ctx context.Context, m Message) {
	meta, err := readMeta(m.Params)
	switch {
	case p.session != nil:
		err = otherEra(p.session.Version)
	case err == nil && meta.Version != ModernVersion:
		err = unsupportedVersion(meta.Version)
	}
	if err == nil {
		var end func()
		if ctx, end, err = p.requests.begin(ctx, m.ID); err == nil {
			work := &p.work
			if m.Method == listenMethod {
				work = &p.stream // it has no end of its own that could be waited for
			}
			work.Go(func() { p.answerModern(ctx, m, meta, end) })
			return
		}
	}
	p.write(AppendError(nil, m.ID, err))
}

func (p *pipe) answerModern(ctx context.Context, m Message, meta *Meta, end func()) {
	req := &Request{ID: m.ID, Method: m.Method, Params: m.Params, Meta: meta, Client: modernPipe{p, meta}, sessions: p.sessions, entry: p.entry}
	defer req.sent()
	result, withdrawn, err := p.entry.settle(ctx, end, p.log, req)
	switch {
	case withdrawn:
	case err != nil:
		p.write(AppendError(nil, m.ID, err))
	default:
		p.write(AppendResult(nil, m.ID, result))
	}
}

// modernPipe is the way back to the client of one modern request.
type modernPipe struct {
	pipe *pipe
	meta *Meta
}

func (c modernPipe) Notify(_ context.Context, method string, params json.RawMessage) error {
	if !c.meta.wants(method, params) {
		return nil
	}
	return c.event(AppendNotification(nil, method, params))
}

func (c modernPipe) Ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	return Deaf.Ask(ctx, method, params)
}

func (c modernPipe) event(message []byte) error { return c.pipe.write(message) }
