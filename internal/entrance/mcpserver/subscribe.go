package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/internal/mcp"
)

// subscriptions are which sessions subscribed to which resource. The server is asked once per resource.
type subscriptions struct {
	mu sync.Mutex
	to map[resource]*subscription
	of map[*mcp.Session]map[resource]string // the URIs that the sessions know them by

	// left are URIs that another replica held for a session and whose servers are not there yet.
	left map[*mcp.Session]map[string]bool

	ending map[resource]chan struct{} // closed when the server has been told that nobody is left

	holding sync.Mutex // orders what is stored of them
}

// resource is one resource of one server: in another profile the same URI may be another's.
type resource struct {
	server tool.ServerID
	uri    string
}

type subscription struct {
	sessions map[*mcp.Session]bool
	after    <-chan struct{} // the end of the one before, of which the server must hear first; nil: there is none
	asked    chan struct{}   // closed when the server has answered
	err      error           // what it answered; set before asked is closed
}

// maxSubscriptions bounds what one client can make us and the servers keep.
const maxSubscriptions = 1000

func (v *visitor) subscribe(ctx context.Context, req *mcp.Request) (json.RawMessage, error) {
	if req.Session == nil {
		return nil, mcp.Errorf(mcp.CodeInvalidRequest, "a subscription needs a session")
	}
	if err := v.subscribeTo(ctx, req.Session, req.Params); err != nil {
		return nil, err
	}
	v.server.hold(context.WithoutCancel(ctx), req.Session)
	return json.RawMessage("{}"), nil
}

// hold stores what a session is subscribed to, for the replica that may be its home next.
func (s *Server) hold(ctx context.Context, session *mcp.Session) {
	if s.opts.Hold == nil {
		return
	}
	s.subscriptions.holding.Lock()
	defer s.subscriptions.holding.Unlock()
	s.subscriptions.mu.Lock()
	uris := slices.AppendSeq([]string{}, maps.Values(s.subscriptions.of[session]))
	uris = slices.AppendSeq(uris, maps.Keys(s.subscriptions.left[session]))
	s.subscriptions.mu.Unlock()
	held, _ := json.Marshal(uris) // strings only
	s.opts.Hold(ctx, session.ID, held)
}

// TakeUp subscribes a session to what another replica held for it. The servers are asked in the background; one that
// refuses is left out, one that is not there yet is asked when it is opened or listed.
func (s *Server) TakeUp(_ context.Context, session *mcp.Session, held []byte) {
	var uris []string
	if json.Unmarshal(held, &uris) != nil {
		return
	}
	s.subscriptions.leave(session, uris)
	s.takeUp(session)
}

// leave notes what a session is to be subscribed to and is not.
func (s *subscriptions) leave(session *mcp.Session, uris []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for uri := range maps.Values(s.of[session]) {
		uris = slices.DeleteFunc(uris, func(held string) bool { return held == uri })
	}
	if len(uris) == 0 {
		return
	}
	if s.left[session] == nil {
		s.left[session] = map[string]bool{}
	}
	for _, uri := range uris {
		s.left[session][uri] = true
	}
}

// unleave forgets what leave has noted.
func (s *subscriptions) unleave(session *mcp.Session, uri string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.left[session], uri)
	if len(s.left[session]) == 0 {
		delete(s.left, session)
	}
}

// takeUp subscribes a session to what is left.
func (s *Server) takeUp(session *mcp.Session) {
	s.subscriptions.mu.Lock()
	left := slices.Collect(maps.Keys(s.subscriptions.left[session]))
	s.subscriptions.mu.Unlock()
	v := &visitor{server: s, profile: session.Group}
	for _, uri := range left {
		at, err := v.owner(catalog.URIArgs(uri))
		if err != nil {
			continue
		}
		r := resource{at.server, at.uri}
		sub, first, err := s.subscriptions.add(r, session, uri)
		if err != nil {
			continue
		}
		s.work.Go(func() {
			if first {
				s.begin(s.ctx, r, sub)
			}
			<-sub.asked
			var refused *mcp.Error
			if sub.err == nil || errors.As(sub.err, &refused) {
				s.subscriptions.unleave(session, uri)
			}
		})
	}
}

// ResourcesChanged takes up what was left for the sessions of a profile that has other resources now; "": of all.
func (s *Server) ResourcesChanged(profile string) {
	s.subscriptions.mu.Lock()
	sessions := slices.Collect(maps.Keys(s.subscriptions.left))
	s.subscriptions.mu.Unlock()
	for _, session := range sessions {
		if profile == "" || session.Group == profile {
			s.takeUp(session)
		}
	}
}

// subscribeTo lets a session hear of the resource that params name.
func (v *visitor) subscribeTo(ctx context.Context, session *mcp.Session, params json.RawMessage) error {
	at, err := v.readable(params)
	if err != nil {
		return err
	}
	subs := &v.server.subscriptions
	r := resource{at.server, at.uri}
	sub, first, err := subs.add(r, session, at.asked)
	if err != nil {
		return err
	}
	if first {
		v.server.begin(context.WithoutCancel(ctx), r, sub) // others may wait with us: that we leave does not end it
	}
	select {
	case <-sub.asked:
	case <-ctx.Done():
	}
	if ctx.Err() != nil { // the session may have ended before it was put in
		v.server.drop(context.WithoutCancel(ctx), r, session)
		return ctx.Err()
	}
	if sub.err != nil {
		return rpcError(sub.err)
	}
	return nil
}

// begin asks the server for a new subscription.
func (s *Server) begin(ctx context.Context, r resource, sub *subscription) {
	if sub.after != nil {
		<-sub.after
	}
	_, sub.err = s.servers.Ask(ctx, r.server, "resources/subscribe", catalog.URIArgs(r.uri))
	if sub.err != nil {
		s.subscriptions.refused(r, sub)
	}
	close(sub.asked)
}

// add puts a session in, which knows the resource by a URI; first tells that the server is still to be asked.
func (s *subscriptions) add(r resource, session *mcp.Session, uri string) (sub *subscription, first bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	mine := s.of[session]
	if len(mine) >= maxSubscriptions && mine[r] == "" {
		return nil, false, mcp.Errorf(mcp.CodeInvalidRequest, "a session may have at most %d subscriptions", maxSubscriptions)
	}
	if mine == nil {
		mine = map[resource]string{}
		s.of[session] = mine
	}
	mine[r] = uri
	sub = s.to[r]
	if sub == nil {
		first = true
		sub = &subscription{sessions: map[*mcp.Session]bool{}, after: s.ending[r], asked: make(chan struct{})}
		s.to[r] = sub
	}
	sub.sessions[session] = true
	return sub, first, nil
}

// refused takes out everybody: those who came while the server was asked get its error too.
func (s *subscriptions) refused(r resource, sub *subscription) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for session := range sub.sessions {
		s.forget(r, session)
	}
}

// remove removes a session. If it was the last, the caller tells the server about the returned subscription and then calls ended.
func (s *subscriptions) remove(r resource, session *mcp.Session) (last *subscription, ended func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sub := s.to[r]
	if !s.forget(r, session) {
		return nil, nil
	}
	told := make(chan struct{})
	s.ending[r] = told
	return sub, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.ending[r] == told {
			delete(s.ending, r)
		}
		close(told)
	}
}

// forget takes a session out and tells whether nobody is left. The caller holds mu.
func (s *subscriptions) forget(r resource, session *mcp.Session) (last bool) {
	sub := s.to[r]
	if sub == nil || !sub.sessions[session] {
		return false
	}
	delete(sub.sessions, session)
	delete(s.of[session], r)
	if len(s.of[session]) == 0 {
		delete(s.of, session)
	}
	if len(sub.sessions) > 0 {
		return false
	}
	delete(s.to, r)
	return true
}

// which are the resources that a session subscribed to and that fit.
func (s *subscriptions) which(session *mcp.Session, fit func(r resource, uri string) bool) (found []resource) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for r, uri := range s.of[session] {
		if fit(r, uri) {
			found = append(found, r)
		}
	}
	return found
}

func (v *visitor) unsubscribe(ctx context.Context, req *mcp.Request) (json.RawMessage, error) {
	uri, _, err := member(req.Params, "uri")
	if err != nil {
		return nil, err
	}
	for _, r := range v.server.subscriptions.which(req.Session, func(_ resource, known string) bool { return known == uri }) {
		v.server.drop(context.WithoutCancel(ctx), r, req.Session)
	}
	v.server.subscriptions.unleave(req.Session, uri)
	v.server.hold(context.WithoutCancel(ctx), req.Session)
	return json.RawMessage("{}"), nil
}

// drop removes a session and tells the server if it was the last. A server that cannot be told has forgotten anyway.
func (s *Server) drop(ctx context.Context, r resource, session *mcp.Session) {
	last, ended := s.subscriptions.remove(r, session)
	if last == nil {
		return
	}
	defer ended()
	select {
	case <-last.asked: // else the server could hear of the end first
	case <-ctx.Done():
	}
	s.servers.Ask(ctx, r.server, "resources/unsubscribe", catalog.URIArgs(r.uri))
}

func (s *Server) unsubscribeAll(ctx context.Context, session *mcp.Session) {
	s.subscriptions.mu.Lock()
	delete(s.subscriptions.left, session)
	s.subscriptions.mu.Unlock()
	for _, r := range s.subscriptions.which(session, func(resource, string) bool { return true }) {
		s.drop(ctx, r, session)
	}
}

// Updated passes on that a server's resource has changed.
func (s *Server) Updated(server tool.ServerID, params json.RawMessage) {
	uri, _ := rawjson.String(rawjson.Get(params, "uri"))
	s.subscriptions.mu.Lock()
	defer s.subscriptions.mu.Unlock()
	r := resource{server, uri}
	if sub := s.subscriptions.to[r]; sub != nil {
		for session := range sub.sessions {
			known := rawjson.AppendString(nil, s.subscriptions.of[session][r])
			told := mcp.Edit(params, "uri", func([]byte) []byte { return known })
			session.Notify(context.Background(), "notifications/resources/updated", told)
		}
	}
}

// Reopened subscribes again at a server that was opened, perhaps anew.
func (s *Server) Reopened(ctx context.Context, server tool.ServerID) {
	s.subscriptions.mu.Lock()
	var uris []string
	for r := range s.subscriptions.to {
		if r.server == server {
			uris = append(uris, r.uri)
		}
	}
	s.subscriptions.mu.Unlock()
	for _, uri := range uris {
		s.servers.Ask(ctx, server, "resources/subscribe", catalog.URIArgs(uri))
	}
	s.ResourcesChanged("")
}
