package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/mcp"
)

// news holds a stream open on which a modern server reports changes. When subscriptions change, a new
// stream is opened before the old one is closed.
type news struct {
	server *server
	conn   conn
	lists  string // the lists whose changes the server reports, as members of the filter

	mu      sync.Mutex
	uris    map[string]bool // resources that somebody subscribed to
	heard   map[string]bool // those that the server reports
	turn    int             // counts the changes of uris
	served  int             // the turn that the open stream was opened for
	err     error           // why there is no stream; nil when there is one, or may be
	changed chan struct{}   // closed and replaced when served or err changes
	wake    chan struct{}   // signals that uris have changed
}

func newNews(s *server, c conn, hello json.RawMessage) *news {
	n := &news{server: s, conn: c, uris: map[string]bool{}, changed: make(chan struct{}), wake: make(chan struct{}, 1)}
	for _, kind := range []string{"tools", "prompts", "resources"} {
		if string(rawjson.Get(hello, "capabilities", kind, "listChanged")) == "true" {
			n.lists += `,"` + kind + `ListChanged":true`
		}
	}
	return n
}

// run listens until the session ends.
func (n *news) run() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		select {
		case <-n.conn.closed():
			cancel()
		case <-ctx.Done():
		}
	}()
	var old *stream
	defer func() { old.close() }()
	for wait := time.Second; ctx.Err() == nil; {
		next := n.open(ctx)
		if next == nil { // nothing to subscribe to
			old.close()
			old = nil
			n.pause(ctx, nil, 0)
			continue
		}
		if !next.stands(ctx, n) {
			next.close()
			n.pause(ctx, nil, wait)
			wait = min(2*wait, time.Minute)
			continue
		}
		old.close()
		old = next
		began := time.Now()
		woken := n.pause(ctx, old.ended, 0)
		for woken && n.current(old.turn) {
			woken = n.pause(ctx, old.ended, 0)
		}
		if woken {
			continue // the subscriptions changed
		}
		if ctx.Err() == nil {
			n.server.pool.opts.Changed(n.server.cfg.ID) // changes may have been missed
			if time.Since(began) >= lasting {
				wait = time.Second // it worked: what ends such a stream is usually a proxy
			}
			n.pause(ctx, nil, wait)
			wait = min(2*wait, time.Minute)
		}
	}
}

// current tells whether the subscriptions are those of the turn.
func (n *news) current(turn int) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.turn == turn
}

// pause waits until the stream ends, the limit is over (0: none) or, reported as woken, the subscriptions change.
func (n *news) pause(ctx context.Context, ended <-chan struct{}, limit time.Duration) (woken bool) {
	var late <-chan time.Time
	if limit > 0 {
		timer := time.NewTimer(limit)
		defer timer.Stop()
		late = timer.C
	}
	select {
	case <-n.wake:
		return true
	case <-ended:
	case <-late:
	case <-ctx.Done():
	}
	return false
}

// stream is one open request for change notifications.
type stream struct {
	turn  int
	end   context.CancelFunc
	acked chan json.RawMessage
	ended chan struct{}
	err   error // why it ended; set before ended is closed
}

// close ends a stream, where there is one.
func (s *stream) close() {
	if s != nil {
		s.end()
	}
}

// open starts a stream for all subscriptions; nil if there are none.
func (n *news) open(ctx context.Context) *stream {
	n.mu.Lock()
	filter := n.lists
	turn := n.turn
	if len(n.uris) > 0 {
		list, _ := json.Marshal(slices.Sorted(maps.Keys(n.uris))) // strings only
		filter += `,"resourceSubscriptions":` + string(list)
	}
	n.mu.Unlock()
	if filter == "" {
		n.report(turn, nil, nil)
		return nil
	}
	ask := own(listenMethod, json.RawMessage(`{"notifications":{`+filter[1:]+`}}`))
	s := &stream{turn: turn, acked: make(chan json.RawMessage, 1), ended: make(chan struct{})}
	ask.era = mcp.Modern
	ask.from.Info = n.server.pool.self
	ask.acked = func(params json.RawMessage) {
		select {
		case s.acked <- params:
		default:
		}
	}
	ctx, s.end = context.WithCancel(ctx)
	n.server.work.Go(func() {
		_, s.err = n.conn.request(ctx, ask)
		close(s.ended)
	})
	return s
}

// stands waits until the server acknowledges the subscriptions.
func (s *stream) stands(ctx context.Context, n *news) bool {
	timer := time.NewTimer(n.server.cfg.Start)
	defer timer.Stop()
	var err error
	select {
	case params := <-s.acked:
		heard := map[string]bool{}
		w := rawjson.Array(rawjson.Get(params, "notifications", "resourceSubscriptions"))
		for w.Next() {
			uri, _ := rawjson.String(w.Value)
			heard[uri] = true
		}
		n.report(s.turn, heard, nil)
		return true
	case <-s.ended:
		err = s.err
		if err == nil {
			err = errors.New("it ended the stream")
		}
	case <-timer.C:
		err = errors.New("it did not answer")
	case <-ctx.Done():
		err = ctx.Err()
	}
	n.report(s.turn, nil, fault.New(fault.UpstreamError, "server %s does not tell of changes: %w", n.server.cfg.ID, err))
	return false
}

// report notes the outcome of a turn.
func (n *news) report(turn int, heard map[string]bool, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.served = turn
	n.err = err
	n.heard = heard
	close(n.changed)
	n.changed = make(chan struct{})
}

// subscribe adds or removes a resource and waits until the server has acknowledged it.
func (n *news) subscribe(ctx context.Context, uri string, on bool) error {
	n.mu.Lock()
	if n.uris[uri] != on {
		n.turn++
		if on {
			n.uris[uri] = true
		} else {
			delete(n.uris, uri)
		}
		select {
		case n.wake <- struct{}{}:
		default:
		}
	}
	mine := n.turn
	for on {
		served := n.served
		err := n.err
		heard := n.heard[uri]
		changed := n.changed
		n.mu.Unlock()
		switch {
		case served >= mine && err != nil:
			n.subscribe(ctx, uri, false)
			return err
		case served >= mine && !heard:
			n.subscribe(ctx, uri, false)
			return mcp.Errorf(mcp.CodeInvalidParams, "server %s does not tell of changes of %s", n.server.cfg.ID, uri)
		case served >= mine:
			return nil
		}
		select {
		case <-changed:
		case <-n.conn.closed():
			return errSessionLost
		case <-ctx.Done():
			return ctx.Err()
		}
		n.mu.Lock()
	}
	n.mu.Unlock()
	return nil
}

// listenTo subscribes at a modern server, which has no method for it; false if the server is a legacy one.
func (s *server) listenTo(ctx context.Context, method string, params json.RawMessage) (bool, error) {
	sess, err := s.acquire(ctx, caller{})
	if err != nil {
		return false, err
	}
	defer s.release(sess)
	if sess.news == nil {
		return false, nil
	}
	uri, _ := rawjson.String(rawjson.Get(params, "uri"))
	return true, sess.news.subscribe(ctx, uri, method == "resources/subscribe")
}
