package mcp

// modern serves a request that says all of itself.
func (p *pipe) modern(m Message) {
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
	out := &pipeReply{opened: opened{id: m.ID, session: p.requests}, pipe: p, meta: meta, held: &p.work}
	if m.Method == listenMethod {
		out.held = &p.stream // it ends with the connection only
	}
	req := m.request(nil, out)
	req.Meta = meta
	req.sessions = p.sessions
	req.entry = p.entry
	out.serve(req)
}
