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
	if err != nil {
		p.write(AppendError(nil, m.ID, err))
		return
	}
	req := m.request(nil, modernPipe{p, meta})
	req.Meta = meta
	req.sessions = p.sessions
	req.entry = p.entry
	serve := p.entry.start(ctx, p.log, p.requests, req)
	work := &p.work
	if m.Method == listenMethod {
		work = &p.stream // it ends with the connection only
	}
	work.Go(func() { p.answer(serve) })
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
	return c.pipe.write(AppendNotification(nil, method, params))
}

func (c modernPipe) Ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	return Deaf.Ask(ctx, method, params)
}

func (c modernPipe) event(message []byte) error { return c.pipe.write(message) }
