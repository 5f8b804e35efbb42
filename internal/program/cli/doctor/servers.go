package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
	"github.com/toolfit/toolfit/internal/program/app"
	"github.com/toolfit/toolfit/internal/program/cli/terminal"
	"github.com/toolfit/toolfit/internal/state/config"
)

// servers lists the tools of each server, with a gateway that has a store of its own, and then
// checks the agents.
func (d *doctor) servers(ctx context.Context, cfg *config.Config, found stored) {
	own := *cfg
	servers := slices.Clone(cfg.Servers)
	for _, s := range found.servers {
		servers = append(servers, s.Server)
		own.Secrets = append(slices.Clone(own.Secrets), s.Secrets...)
	}
	for _, has := range found.tokens {
		own.Secrets = append(slices.Clone(own.Secrets), has.token)
	}
	dir, err := os.MkdirTemp("", "toolfit-doctor-")
	if err != nil {
		d.blame("servers", fmt.Errorf("make a folder: %w", err))
		return
	}
	defer os.RemoveAll(dir)
	own.Store = filepath.Join(dir, "doctor.db")
	own.Servers = nil // they are listed here, not by the catalog
	own.Profiles = nil
	a, err := app.New(ctx, &own, &app.Options{Version: d.Version, Logger: d.Logger, Env: d.Lookup})
	if err != nil {
		d.blame("servers", err)
		return
	}
	defer a.Close()
	results := make([]Finding, len(servers)) // in the order of the file
	for i, s := range servers {
		signedIn, why := d.signedIn(s, found)
		servers[i] = signedIn
		if why != nil {
			results[i] = *why
		}
	}
	a.Pool.Apply(servers)
	slots := make(chan struct{}, 4) // each may be a process that starts
	progress := d.Progress.Group("checking server %d of %d: %s", len(servers))
	var work sync.WaitGroup
	for i, s := range servers {
		if results[i].Status != "" {
			continue
		}
		work.Go(func() {
			slots <- struct{}{}
			done := progress.Begin(string(s.ID))
			results[i] = d.server(ctx, a, s)
			done()
			<-slots
		})
	}
	work.Wait()
	for i, f := range results {
		subject := "server " + string(servers[i].ID)
		d.say(f.Status, subject, strings.TrimPrefix(f.Message, subject+" "), f.Hint)
	}
	d.scan(servers)
	all := *cfg
	all.Servers = servers
	all.Agents = slices.Concat(cfg.Agents, found.agents)
	d.Progress.Say("checking the agents")
	d.agents(ctx, &all, a.Store)
}

// scan reports what is suspicious in what the servers offer.
func (d *doctor) scan(servers []config.Server) {
	const most = 5 // of one server
	var all []upstream.Listing
	for _, s := range servers {
		all = append(all, d.listed[s.ID])
	}
	for i, s := range servers {
		subject := "server " + string(s.ID)
		found := catalog.Suspicious(i, all)
		for _, f := range found[:min(len(found), most)] {
			d.say(warning, subject, f.Name+" is suspicious: "+f.Findings[0].String(),
				"read its definition; with approve: suspicious it is held until you approve it")
		}
		if more := len(found) - most; more > 0 {
			d.say(warning, subject, fmt.Sprintf("%d more of what it offers is suspicious", more), "")
		}
	}
}

func (d *doctor) server(ctx context.Context, a *app.App, s config.Server) Finding {
	if s.Disabled {
		return Finding{Status: good, Message: "is disabled"}
	}
	if s.Missing != "" {
		return Finding{Status: Problem, Message: "cannot start: " + s.Missing}
	}
	if message, hint := missing(s); message != "" {
		return Finding{Status: Problem, Message: message, Hint: hint}
	}
	return d.ask(ctx, a, s)
}

// runtimes are the usual commands of servers and how to install them.
var runtimes = map[string]string{
	"npx": "install Node.js, which includes npx", "node": "install Node.js", "npm": "install Node.js, which includes npm",
	"bunx": "install Bun, which includes bunx", "uvx": "install uv, which includes uvx", "uv": "install uv", "python": "install Python",
	"python3": "install Python 3", "docker": "install Docker", "deno": "install Deno",
}

// missing says what the command of a server lacks, and what to do.
func missing(s config.Server) (message, hint string) {
	if s.Command == "" {
		return "", ""
	}
	_, lost := s.Program()
	base := config.ProgramName(s.Command)
	switch info, err := os.Stat(s.Cwd); {
	case lost != nil:
		bare := !strings.ContainsAny(s.Command, `/\: `)
		hint = runtimes[base]
		if hint == "" || !bare {
			hint = s.CommandHint()
		}
		if bare {
			hint += "; a service may have a different PATH than your shell"
		}
		return "command \"" + s.Command + "\" does not exist", hint
	case (base == "npx" || base == "npm") && !found("node"):
		return s.Command + " exists, but node does not", "install Node.js, or add its folder to PATH"
	case s.Cwd != "" && (err != nil || !info.IsDir()):
		hint = s.WindowsHint()
		if hint == "" {
			hint = "create it, or correct cwd of " + string(s.ID)
		}
		return "folder " + s.Cwd + " does not exist", hint
	}
	return "", ""
}

func found(program string) bool {
	_, err := exec.LookPath(program)
	return err == nil || errors.Is(err, exec.ErrDot)
}

func (d *doctor) ask(ctx context.Context, a *app.App, s config.Server) Finding {
	timed, cancel := context.WithTimeout(ctx, d.Timeout)
	defer cancel()
	from := d.Now()
	l, err := a.Pool.List(timed, s.ID)
	if err == nil {
		d.heard(s.ID, l)
		f := Finding{Status: good, Message: fmt.Sprintf("%s, listed in %s", terminal.Count(len(l.Tools), "tool"),
			d.Now().Sub(from).Round(time.Millisecond))}
		if way := statusOf(a, s).Sandbox; way != "" {
			f.Message += "; sandbox: " + way
		}
		switch {
		case len(l.Notes) > 0:
			f.Status = warning
			f.Hint = strings.Join(l.Notes, "; ")
		case len(l.Tools) == 0:
			f.Status = warning
			f.Hint = "is it the right server?"
		}
		return f
	}
	was := fault.As(err)
	f := Finding{Status: Problem, Message: was.Message, Hint: was.Hint}
	if was.Code == fault.Internal {
		f.Message = err.Error()
	}
	if timed.Err() != nil && ctx.Err() == nil {
		f.Message = fmt.Sprintf("did not list its tools within %s", d.Timeout)
		f.Hint = ""
		if s.Command != "" {
			f.Hint = "if npx or uvx still downloads it, run doctor again, or give it more time with --timeout; else run its command by hand"
		}
	}
	if said := statusOf(a, s).Said; said != "" && !strings.Contains(f.Message, said) {
		f.Message += "; it said: " + said
	}
	switch {
	case f.Hint != "":
	case s.API != nil:
		f.Hint = "check spec, base and proxy of " + string(s.ID)
	case s.URL != "":
		f.Hint = "check url and headers of " + string(s.ID)
	default:
		f.Hint = "run its command by hand to see what it does"
	}
	return f
}

func statusOf(a *app.App, s config.Server) upstream.Status {
	for _, st := range a.Pool.Status() {
		if st.ID == s.ID {
			return st
		}
	}
	return upstream.Status{}
}

// address checks that a gateway can listen, or does already, which it returns.
func (d *doctor) address(ctx context.Context, cfg *config.Config) (running bool) {
	const subject = "address"
	l, err := net.Listen("tcp", cfg.Listen)
	if err == nil {
		l.Close()
		d.say(good, subject, cfg.Listen+" is free", "")
		return false
	}
	if !errors.Is(err, syscall.EADDRINUSE) && !strings.Contains(err.Error(), "Only one usage") { // on Windows
		d.say(Problem, subject, "cannot listen on "+cfg.Listen+": "+err.Error(), "choose another address: listen, or --listen")
		return false
	}
	if isGateway(ctx, "http://"+Reachable(cfg.Listen)+cfg.BasePath) {
		d.say(good, subject, "a gateway answers on "+cfg.Listen, "")
		return true
	}
	d.say(Problem, subject, cfg.Listen+" is taken by another program", "stop that program, or choose another address: listen, or --listen")
	return false
}

// isGateway tells whether a toolfit gateway answers at the address.
func isGateway(ctx context.Context, base string) bool {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/api/v1/servers", nil)
	if err != nil {
		return false
	}
	transport := &http.Transport{DisableKeepAlives: true} // and no proxy
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	var answer struct {
		Servers *[]any       `json:"servers"`
		Error   *fault.Error `json:"error"`
	}
	err = json.NewDecoder(io.LimitReader(resp.Body, 4<<20)).Decode(&answer)
	return err == nil && (answer.Servers != nil || answer.Error != nil && answer.Error.Code != "")
}

// Reachable is the address at which this machine reaches a listener.
func Reachable(listen string) string {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return listen
	}
	if a, err := netip.ParseAddr(host); host == "" || err == nil && a.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}
