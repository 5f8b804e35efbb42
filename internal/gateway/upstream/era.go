package upstream

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/mcp"
)

// quiet is how long a server may ignore the modern greeting before it gets the legacy one too: some never answer unknown methods.
const quiet = 3 * time.Second

// learn remembers the server's era; "" forgets it.
func (s *server) learn(era mcp.Era) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.era = era
}

func (s *server) knownEra() mcp.Era {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.era
}

// greeting is what a server said when a session with it was opened.
type greeting struct {
	hello json.RawMessage
	era   mcp.Era
	err   error
}

// greet opens a session in the server's known era, otherwise in the one it is found to speak. A wrong memory is corrected.
func (s *server) greet(ctx context.Context, c conn, sess *session, transport string) greeting {
	var g greeting
	switch era := s.knownEra(); {
	case s.cfg.Builtin != "", s.cfg.API != nil, transport == "sse": // these are legacy
		return s.legacy(ctx, c, sess)
	case era == mcp.Legacy:
		g = s.legacy(ctx, c, sess)
		if refused(g.err) {
			if again := s.modern(ctx, c); again.err == nil && again.era == mcp.Modern {
				g = again
			}
		}
	default:
		g = s.findOut(ctx, c, sess)
	}
	if g.err == nil {
		s.learn(g.era)
	}
	return g
}

// refused tells whether a server answered a greeting with an error.
func refused(err error) bool { return fault.Is(err, fault.UpstreamProtocol) }

// findOut probes for the era. If the server stays silent, the legacy greeting follows, and the first useful answer decides.
func (s *server) findOut(ctx context.Context, c conn, sess *session) greeting {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	modern := make(chan greeting, 1)
	legacy := make(chan greeting, 1)
	go func() { modern <- s.modern(ctx, c) }()
	timer := time.NewTimer(s.pool.quiet)
	defer timer.Stop()
	greeted := false
	asked := true
	var refusal *greeting // the legacy greeting's error, while the modern one is pending
	greet := func() {
		if !greeted {
			greeted = true
			go func() { legacy <- s.legacy(ctx, c, sess) }()
		}
	}
	for {
		select {
		case g := <-modern:
			if g.era == mcp.Modern || g.err != nil {
				return g
			}
			if refusal != nil {
				return *refusal
			}
			asked = false
			greet()
		case g := <-legacy:
			if g.err == nil || !asked {
				return g
			}
			refusal = &g
			timer.Reset(s.pool.quiet / 4) // the earlier request should be answered soon too
		case <-timer.C:
			if refusal != nil {
				return *refusal
			}
			greet()
		}
	}
}

// modern sends the modern greeting. A legacy greeting without an error says that the server did not understand.
func (s *server) modern(ctx context.Context, c conn) greeting {
	ask := own(discoverMethod, nothing)
	ask.era = mcp.Modern
	ask.from.Info = s.pool.self
	for tries := 0; ; tries++ {
		hello, err := c.request(ctx, ask)
		var rpc *mcp.Error
		switch {
		case err == nil && speaks(rawjson.Get(hello, "supportedVersions")):
			return greeting{hello: bytes.Clone(hello), era: mcp.Modern}
		case errors.As(err, &rpc) && rpc.Code == mcp.CodeUnsupportedVersion && tries == 0 && speaks(rawjson.Get(rpc.Raw, "data", "supported")):
			continue // it offers the revision that it refused
		case errors.As(err, &rpc) && isModernCode(rpc.Code) && !refusesVersion(err):
			return greeting{era: mcp.Modern, err: s.startError(ctx, err)}
		case fault.Is(err, fault.UpstreamDown) || fault.Is(err, fault.LoginRequired) || err != nil && ctx.Err() != nil:
			return greeting{err: s.startError(ctx, err)}
		}
		return greeting{era: mcp.Legacy}
	}
}

// speaks tells whether our modern revision is among the versions.
func speaks(versions json.RawMessage) bool {
	w := rawjson.Array(versions)
	for w.Next() {
		if v, _ := rawjson.String(w.Value); v == mcp.ModernVersion {
			return true
		}
	}
	return false
}

// legacy sends the greeting of the revisions with sessions.
func (s *server) legacy(ctx context.Context, c conn, sess *session) greeting {
	hello, err := s.handshake(ctx, c, sess)
	return greeting{hello: hello, era: mcp.Legacy, err: err}
}

// died tells whether the process behind a conn has ended.
func died(c conn) bool {
	_, isProcess := c.(*process)
	select {
	case <-c.closed():
		return isProcess
	default:
		return false
	}
}
