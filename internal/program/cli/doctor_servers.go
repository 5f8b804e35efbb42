package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/program/app"
	"github.com/toolfit/toolfit/internal/state/config"
)

// servers asks each server for its tools, as a gateway would. The gateway for that has a
// store of its own, so that the real one is left alone. By what they list, the tools of agents
// are looked at.
func (d *doctor) servers(ctx context.Context, cfg *config.Config, k kept) {
	own := *cfg
	servers := slices.Clone(cfg.Servers)
	for _, s := range k.servers {
		servers = append(servers, s.Server)
		own.Secrets = append(slices.Clone(own.Secrets), s.Secrets...)
	}
	dir, err := os.MkdirTemp("", "toolfit-doctor-")
	if err != nil {
		d.blame("servers", fmt.Errorf("make a folder: %w", err))
		return
	}
	defer os.RemoveAll(dir)
	own.Store = filepath.Join(dir, "doctor.db")
	own.Servers = nil // each is asked here, and not by the catalog as well
	own.Profiles = nil
	a, err := app.New(ctx, &own, &app.Options{Version: d.env.Version, Logger: d.quiet(), Env: d.env.Lookup})
	if err != nil {
		d.blame("servers", err)
		return
	}
	defer a.Close()
	a.Pool.Apply(servers)
	results := make([]finding, len(servers)) // in the order of the file
	slots := make(chan struct{}, 4)          // each may be a process that starts
	var work sync.WaitGroup
	for i, s := range servers {
		work.Go(func() {
			slots <- struct{}{}
			results[i] = d.server(ctx, a, s)
			<-slots
		})
	}
	work.Wait()
	for i, f := range results {
		subject := "server " + string(servers[i].ID)
		d.say(f.Status, subject, strings.TrimPrefix(f.Message, subject+" "), f.Hint)
	}
	all := *cfg
	all.Servers, all.Agents = servers, slices.Concat(cfg.Agents, k.agents)
	d.agents(ctx, &all, a.Store)
}

func (d *doctor) server(ctx context.Context, a *app.App, s config.Server) finding {
	if s.Disabled {
		return finding{Status: good, Message: "is disabled"}
	}
	if s.Missing != "" {
		return finding{Status: problem, Message: "is out of service: " + s.Missing}
	}
	if message, hint := missing(s); message != "" {
		return finding{Status: problem, Message: message, Hint: hint}
	}
	return d.ask(ctx, a, s)
}

// runtimes are the programs that servers are usually started with, and where they come from.
var runtimes = map[string]string{
	"npx": "install Node.js, which brings npx", "node": "install Node.js", "npm": "install Node.js, which brings npm",
	"bunx": "install Bun, which brings bunx", "uvx": "install uv, which brings uvx", "uv": "install uv", "python": "install Python",
	"python3": "install Python 3", "docker": "install Docker", "deno": "install Deno",
}

// missing is what the command of a server lacks, and what to do. npx needs Node as well.
func missing(s config.Server) (message, hint string) {
	if s.Command == "" {
		return "", ""
	}
	_, lost := s.Program()
	base := config.ProgramName(s.Command)
	switch info, err := os.Stat(s.Cwd); {
	case lost != nil:
		bare := !strings.ContainsAny(s.Command, `/\: `)
		if hint = runtimes[base]; hint == "" || !bare {
			hint = s.CommandHint()
		}
		if bare {
			hint += "; a service may have another PATH than your shell"
		}
		return "command \"" + s.Command + "\" does not exist", hint
	case (base == "npx" || base == "npm") && !found("node"):
		return s.Command + " is there, but node is not", "install Node.js, or add its folder to PATH"
	case s.Cwd != "" && (err != nil || !info.IsDir()):
		if hint = s.WindowsHint(); hint == "" {
			hint = "make it, or correct cwd of " + string(s.ID)
		}
		return "folder " + s.Cwd + " does not exist", hint
	}
	return "", ""
}

func found(program string) bool {
	_, err := exec.LookPath(program)
	return err == nil || errors.Is(err, exec.ErrDot)
}

// ask lists the tools of one server.
func (d *doctor) ask(ctx context.Context, a *app.App, s config.Server) finding {
	timed, cancel := context.WithTimeout(ctx, d.patience)
	defer cancel()
	from := d.now()
	l, err := a.Pool.List(timed, s.ID)
	if err == nil {
		d.heard(s.ID, l)
		f := finding{Status: good, Message: fmt.Sprintf("%s, listed in %s", count(len(l.Tools), "tool"), d.now().Sub(from).Round(time.Millisecond))}
		switch {
		case len(l.Notes) > 0:
			f.Status, f.Hint = warning, strings.Join(l.Notes, "; ")
		case len(l.Tools) == 0:
			f.Status, f.Hint = warning, "is it the right server?"
		}
		return f
	}
	was := fault.As(err)
	f := finding{Status: problem, Message: was.Message, Hint: was.Hint}
	if was.Code == fault.Internal {
		f.Message = err.Error()
	}
	if timed.Err() != nil && ctx.Err() == nil {
		f.Message = fmt.Sprintf("did not list its tools within %s", d.patience)
		f.Hint = "give it more time with --patience, or run its command by hand to see what it does"
	}
	if said := saidBy(a, s); said != "" && !strings.Contains(f.Message, said) {
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

// saidBy is what a server itself says of what went wrong.
func saidBy(a *app.App, s config.Server) string {
	for _, st := range a.Pool.Status() {
		if st.ID == s.ID {
			return st.Said
		}
	}
	return ""
}

// address looks whether a gateway could listen, or listens.
func (d *doctor) address(ctx context.Context, cfg *config.Config) {
	const subject = "address"
	l, err := net.Listen("tcp", cfg.Listen)
	if err == nil {
		l.Close()
		d.say(good, subject, cfg.Listen+" is free", "")
		return
	}
	if !errors.Is(err, syscall.EADDRINUSE) && !strings.Contains(err.Error(), "Only one usage") { // Windows has words of its own
		d.say(problem, subject, "cannot listen on "+cfg.Listen+": "+err.Error(), "choose another address: listen, or --listen")
		return
	}
	if isGateway(ctx, "http://"+reachable(cfg.Listen)+cfg.BasePath) {
		d.say(good, subject, "a gateway answers on "+cfg.Listen, "")
		return
	}
	d.say(problem, subject, cfg.Listen+" is taken by another program", "end that program, or choose another address: listen, or --listen")
}

// isGateway tells whether a toolfit gateway answers at the address, whoever may ask it.
func isGateway(ctx context.Context, base string) bool {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/api/v1/servers", nil)
	if err != nil {
		return false
	}
	transport := &http.Transport{DisableKeepAlives: true} // and no proxy: it is this machine
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
