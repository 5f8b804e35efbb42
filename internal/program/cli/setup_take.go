package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/clients"
	"github.com/toolfit/toolfit/internal/state/clientfile"
	"github.com/toolfit/toolfit/internal/state/config"
)

// find finds what to take over of a client: where it has servers, or its usual file if it is named.
func (p *setupPlan) find(one clients.Client) (found []holding, err error) {
	named := slices.Contains(p.f.clients, one.Name)
	if len(p.f.clients) > 0 && !named {
		return nil, nil
	}
	found = slices.DeleteFunc(p.c.holdings(one), func(h holding) bool { return h.project && !p.f.project })
	if len(found) > 0 {
		return found, nil
	}
	if named {
		path, err := p.c.fileOf(one, "")
		return []holding{{client: one.Name, path: path, Contents: clientfile.Contents{Keys: []string{one.Key}}}}, err
	}
	if slices.ContainsFunc(p.c.folders().Files(one), func(path string) bool { return filepath.IsAbs(path) && exists(path) }) {
		p.Idle = append(p.Idle, one.Name)
	}
	return nil, nil
}

// takeOver plans the change of a client's file: our entry comes in, servers that we take go out.
func (p *setupPlan) takeOver(ctx context.Context, one clients.Client, h holding) setupClient {
	out := setupClient{Client: one.Name, File: h.path, Servers: []setupServer{}, Notes: h.Notes}
	if h.err != nil {
		out.Error = asFault(h.err)
		return out
	}
	edit, err := p.edit(h.path)
	if err == nil {
		err = p.mayConnect(one, h)
	}
	var entries []clients.Entry
	if err == nil {
		f := installFlags{stdio: p.f.stdio, profile: p.f.profile}
		entries, err = p.c.ownEntry(one, f, func() (*config.Config, error) { return p.cfg, nil })
	}
	with := *edit
	if err == nil {
		with, err = edit.Put(h.Keys, clients.Own, entries)
	}
	if err != nil {
		out.Error = asFault(err)
		return out
	}
	connect := slices.Contains(p.f.clients, one.Name)
	for i, s := range h.Servers {
		if ctx.Err() != nil { // each one takes the file apart, which may be long
			break
		}
		if h.project && s.Command != "" && s.Cwd == "" { // clients start servers of a project in its folder
			s.Cwd, _ = os.Getwd()
		}
		took := setupServer{Name: h.Names[i], Outcome: wasLeft}
		if !clientfile.IsSelf(s) {
			with = p.take(with, h, s, &took)
		}
		connect = connect || took.As != "" || took.Name == clients.Own
		out.Servers = append(out.Servers, took)
	}
	if connect {
		*edit = with
	}
	return out
}

// take plans to take one server over, and returns the client's file without it.
func (p *setupPlan) take(from clientfile.Edit, h holding, s config.Server, took *setupServer) clientfile.Edit {
	for _, held := range s.InlineSecrets() {
		took.Secrets = append(took.Secrets, held.Field)
	}
	without, err := from, error(nil)
	if !p.f.keep {
		without, err = from.Remove(h.Keys, took.Name)
	}
	if err == nil {
		took.As, took.Outcome, err = p.adopt(s, h.client)
	}
	if err != nil {
		took.Outcome = wasRefused
		took.Error = asFault(err)
		return from
	}
	return without
}

// adopt adds a server to the configuration, under a name with the client's if its own has other
// settings there.
func (p *setupPlan) adopt(s config.Server, client string) (as, outcome string, err error) {
	for _, id := range []tool.ServerID{s.ID, s.ID + "-" + tool.ServerID(client)} {
		s.ID = id
		filled, err := p.filled(s)
		if err != nil {
			return "", "", err
		}
		if was, there := p.known[id]; there {
			if filled.Disabled { // which does not make it another server
				filled.Disabled = was.Disabled
			}
			if config.SameSettings(was, filled) {
				return string(id), wasThere, nil
			}
			continue
		}
		if err := p.in.add(s); err == nil {
			p.known[id] = filled
			return string(id), wasAdded, nil
		} else if !fault.Is(err, fault.Conflict) {
			return "", "", err
		}
	}
	return "", "", fault.New(fault.Conflict, "%s has a server of this name with other settings", p.Config).
		WithHint("rename it in the client's file")
}

// filled is the server as the configuration would load it. One that could not be used is refused,
// for its client can use it.
func (p *setupPlan) filled(s config.Server) (config.Server, error) {
	text, err := config.WithServer(p.Config, nil, s)
	if err != nil {
		return s, err
	}
	cfg, err := config.Parse(p.Config, text, p.c.env.Lookup)
	if err != nil {
		return s, err
	}
	filled, _ := cfg.ServerNamed(s.ID)
	if filled.Missing != "" {
		return s, fault.New(fault.BadConfig, "%s", filled.Missing)
	}
	return filled, nil
}

// mayConnect refuses to put our entry in place of what is not ours to replace.
func (p *setupPlan) mayConnect(one clients.Client, h holding) error {
	for i, s := range h.Servers {
		switch {
		case h.Names[i] != clients.Own:
		case !clientfile.IsSelf(s):
			return fault.New(fault.Conflict, "%s has another server with the name %s", h.path, clients.Own).WithHint("rename it there")
		case s.URL != "" && !isBelow(s.URL, ownAddress(p.cfg)) || s.Command != "" && !slices.Contains(s.Args, p.Config):
			if !slices.Contains(p.f.clients, one.Name) {
				return fault.New(fault.Conflict, "%s connects %s to another gateway", h.path, one.Name).
					WithHint("to take it over all the same: toolfit setup --client %s", one.Name)
			}
		}
	}
	return nil
}

func isBelow(url, base string) bool { return len(url) > len(base) && url[:len(base)+1] == base+"/" }

// edit is the change of a file so far. Several clients, or several places of one, may share it.
func (p *setupPlan) edit(path string) (*clientfile.Edit, error) {
	for i := range p.edits {
		if sameFile(p.edits[i].Path, path) {
			return &p.edits[i], nil
		}
	}
	full, err := filepath.Abs(path)
	if err != nil {
		return &clientfile.Edit{}, fmt.Errorf("find %s: %w", path, err)
	}
	edit, err := clientfile.Open(full)
	p.edits = append(p.edits, edit)
	return &p.edits[len(p.edits)-1], err
}

func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return a == b
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}
