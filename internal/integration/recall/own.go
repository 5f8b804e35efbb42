package recall

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/policy"
	"github.com/toolfit/toolfit/internal/gateway/call"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
)

// Catalog knows the tools of our own servers.
type Catalog interface {
	View(profile string) (*catalog.View, error)
	ServerReady(ctx context.Context, id tool.ServerID) // waits until the server's tools have been listed once
	Servers() []catalog.Server
}

// Caller calls them.
type Caller interface {
	Do(ctx context.Context, req call.Request) (*call.Result, error)
	DoElsewhere(ctx context.Context, req call.Request, to call.Elsewhere) (*call.Result, error)
}

// find looks up a tool. Both results are nil when the profile has no such server.
func (s *Service) find(ctx context.Context, profile string, name tool.Name) (*catalog.Entry, error) {
	e, err := s.look(profile, name)
	if e != nil || err != nil {
		return e, err
	}
	server, raw, _ := name.Split()
	known := s.server(profile, server)
	if known == nil {
		return nil, nil
	}
	// Perhaps its tools are being listed for the first time, or have been since we looked.
	s.Catalog.ServerReady(ctx, server)
	e, err = s.look(profile, name)
	if e != nil || err != nil {
		return e, err
	}
	known = s.server(profile, server)
	if known != nil && known.ListedAt.IsZero() {
		return nil, unlisted(known)
	}
	return nil, noTool(string(server), raw)
}

// shown is find for a caller that the tool is described to. What the policy denies whatever the arguments are is not there.
func (s *Service) shown(ctx context.Context, who caller, name tool.Name) (*catalog.Entry, error) {
	e, err := s.find(ctx, who.profile, name)
	if err != nil {
		return nil, err
	}
	view, err := s.Catalog.View(who.profile)
	if err != nil || !view.Ruled() {
		return e, err
	}
	server, raw, _ := name.Split()
	t := catalog.UnknownTool(server, raw)
	if e != nil {
		t = e.PolicyTool()
	}
	set, about := view.Policy(who.Principal, t, nil, time.Time{})
	if set.Decide(about).Verdict == policy.Deny {
		return nil, noTool(string(server), raw)
	}
	return e, nil
}

func (s *Service) look(profile string, name tool.Name) (*catalog.Entry, error) {
	view, err := s.Catalog.View(profile)
	if err != nil {
		return nil, err
	}
	if e := view.Named(name); e != nil && !e.Own {
		return e, nil
	}
	return nil, nil
}

// server returns what is known about a server that the profile sees.
func (s *Service) server(profile string, id tool.ServerID) *catalog.Server {
	i := slices.IndexFunc(s.Config.Profiles, func(p config.Profile) bool { return p.Name == profile })
	if i < 0 || !access.SeesServer(s.Config.Profiles[i], id) {
		return nil
	}
	all := s.Catalog.Servers()
	at := slices.IndexFunc(all, func(s catalog.Server) bool { return s.ID == id })
	if at < 0 {
		return nil
	}
	return &all[at]
}

// unlisted explains why the tools of a server are not known yet.
func unlisted(s *catalog.Server) *problem {
	told := details{"service": string(s.ID), "reason": say("reason.unlisted")}
	if s.Reason != "" {
		told["message"] = ours(s.Reason)
	}
	return &problem{status: http.StatusBadGateway, details: told}
}

func noInstance(server string) *problem {
	return notFound(instanceNotFound, details{"mcp_id": clipped(server)})
}
