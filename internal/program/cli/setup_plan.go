package cli

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"net"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/inbound"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/clients"
	"github.com/toolfit/toolfit/internal/program/cli/terminal"
	"github.com/toolfit/toolfit/internal/program/journal"
	"github.com/toolfit/toolfit/internal/state/clientfile"
	"github.com/toolfit/toolfit/internal/state/config"
)

// setupPlan is what setup would change, and later what it did.
type setupPlan struct {
	Applied bool          `json:"applied"`
	Config  string        `json:"config"`
	Clients []setupClient `json:"clients"`
	Idle    []string      `json:"idle,omitempty"` // clients without servers, which are left alone
	Secrets moved         `json:"secrets"`
	Service service       `json:"service"`
	Running bool          `json:"running"` // a gateway runs with the configuration already
	Console string        `json:"console"`
	Backups []string      `json:"backups,omitempty"`
	Notes   []string      `json:"notes,omitempty"`

	c     *command
	f     setupFlags
	cfg   *config.Config
	in    *intake
	known map[tool.ServerID]config.Server // of the configuration, with ${} filled in
	edits []clientfile.Edit               // one for each file
}

type setupClient struct {
	Client  string        `json:"client"`
	File    string        `json:"file"`
	Servers []setupServer `json:"servers"`
	Notes   []string      `json:"notes,omitempty"`
	Error   *fault.Error  `json:"error,omitempty"` // why the file stays as it is
}

type setupServer struct {
	Name    string       `json:"name"`         // in the client's file
	As      string       `json:"as,omitempty"` // in the configuration
	Outcome string       `json:"outcome"`
	Secrets []string     `json:"secrets,omitempty"` // fields with a secret in plain text
	Error   *fault.Error `json:"error,omitempty"`   // why it stays in the client's file
}

func (c *command) planSetup(ctx context.Context, f setupFlags) (*setupPlan, error) {
	in, err := c.newIntake(c.config, f.secrets)
	if err != nil {
		return nil, err
	}
	p := &setupPlan{Config: c.config, Clients: []setupClient{}, c: c, f: f, in: in, known: map[tool.ServerID]config.Server{}}
	if p.cfg, err = config.Parse(c.config, in.old, c.env.Lookup); err != nil {
		return nil, err
	}
	if f.profile != "" && !slices.ContainsFunc(p.cfg.Profiles, func(one config.Profile) bool { return one.Name == f.profile }) {
		return nil, usage("%s has no profile %q", c.config, f.profile)
	}
	for _, s := range p.cfg.Servers {
		p.known[s.ID] = s
	}
	for _, one := range clients.WithFiles() {
		found, err := p.find(one)
		if err != nil {
			return nil, err
		}
		for _, h := range found {
			p.Clients = append(p.Clients, p.takeOver(ctx, one, h))
		}
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if len(p.Clients) > 0 && len(p.known) == 0 && len(p.in.text) == 0 && !p.failed() {
		return nil, fault.New(fault.NotFound, "there are no servers yet that clients could use").
			WithHint("add one with: toolfit add NAME -- COMMAND; or try: toolfit demo")
	}
	return p, p.finish(ctx)
}

// finish adds what follows from the servers: secrets, and how the gateway starts.
func (p *setupPlan) finish(ctx context.Context) (err error) {
	p.Secrets = p.in.moved
	p.Secrets.Variables = slices.Clone(p.in.Variables)
	for i := range p.Secrets.Variables { // their values are shown once they are needed
		p.Secrets.Variables[i].Value = "***"
	}
	p.Console = ownAddress(p.cfg) + "/"
	kind := p.f.service
	if kind == "" && p.f.stdio {
		kind = byNobody
	}
	if p.Service, err = p.c.newService(ctx, runtime.GOOS, kind, p.Config); err != nil {
		return err
	}
	if path, err := p.c.socketPath(p.cfg); err == nil && path != "" {
		if conn, err := inbound.DialLocal(ctx, path); err == nil {
			conn.Close()
			p.Running = true
		}
	}
	if l, err := net.Listen("tcp", p.cfg.Listen); err == nil {
		l.Close()
	} else if !p.Running {
		p.note("the gateway cannot listen on %s: %v; choose another address with listen: in %s first", p.cfg.Listen, err, p.Config)
	}
	if names := variablesOf(p.in.added); len(names) > 0 && p.Service.Kind != byNobody {
		p.note("%s use environment variables, which a service does not get from your shell; set them for it", terminal.Some(names))
	}
	return nil
}

func (p *setupPlan) note(format string, args ...any) {
	p.Notes = append(p.Notes, fmt.Sprintf(format, args...))
}

// failed tells whether a client's file could not be taken over.
func (p *setupPlan) failed() bool {
	return slices.ContainsFunc(p.Clients, func(one setupClient) bool { return one.Error != nil })
}

// changes are the changes of files: our own, and those of clients.
func (p *setupPlan) changes() (ours, theirs []journal.Change) {
	for _, e := range p.edits {
		if e.Changed() {
			theirs = append(theirs, journal.Change{Path: e.Path, Old: e.Old, New: e.New, Mask: 0o777})
		}
	}
	add := func(path, text string, mask fs.FileMode) {
		if !exists(path) {
			ours = append(ours, journal.Change{Path: path, New: []byte(text), Mask: mask})
		}
	}
	if len(p.in.Files) > 0 {
		add(filepath.Join(p.in.folder(), ".gitignore"), "*\n", 0o600)
	}
	for _, path := range p.in.Files {
		add(path, p.in.unwritten[path], 0o600)
	}
	if !bytes.Equal(p.in.old, p.in.text) {
		ours = append(ours, journal.Change{Path: p.Config, Old: p.in.old, New: p.in.text, Mask: p.in.mask})
		if file := config.SchemaBeside(p.Config, p.in.text); file != "" {
			add(file, string(config.Schema()), 0o777)
		}
	}
	if p.Service.File != "" && !p.Running { // one that is there may have been adapted
		add(p.Service.File, p.Service.Text, 0o777)
	}
	return ours, theirs
}
