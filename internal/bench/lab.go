package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolfit/toolfit/internal/bench/proc"
	"github.com/toolfit/toolfit/internal/bench/upstream"
	"github.com/toolfit/toolfit/internal/bench/wire"
)

// patience is the timeout of everything but the measured work.
const patience = time.Minute

// lab is where things run: a folder for what they write, and what is installed.
type lab struct {
	opts    *options
	self    string
	dir     string            // goes away at the end
	tools   string            // stays
	program string            // the built toolfit
	where   map[string]string // programs, by the name of their peer
	have    []*peer           // those that can be run
	count   *atomic.Int64     // messages that reached servers
	mu      sync.Mutex
	running []*process
}

func newLab(o *options) (*lab, error) {
	self, err := os.Executable()
	if err == nil {
		self, err = filepath.EvalSymlinks(self)
	}
	if err != nil {
		return nil, err
	}
	l := &lab{opts: o, self: self, where: map[string]string{}, tools: filepath.Join(o.root, ".tools", "compare")}
	if l.dir, err = os.MkdirTemp("", "compare-"); err != nil {
		return nil, err
	}
	l.count, err = counter(l.countFile())
	if err == nil {
		err = os.WriteFile(l.shim(), shim, 0o600)
	}
	if err != nil {
		os.RemoveAll(l.dir)
		return nil, err
	}
	return l, nil
}

//go:embed loopback.cjs
var shim []byte

// shim is the file that keeps gateways on Node to loopback.
func (l *lab) shim() string { return filepath.Join(l.dir, "loopback.cjs") }

func (l *lab) countFile() string { return filepath.Join(l.dir, "count") }

// close ends everything that runs, and only then removes the folder.
func (l *lab) close() {
	l.mu.Lock()
	running := l.running
	l.mu.Unlock()
	for _, p := range running {
		p.end()
	}
	os.RemoveAll(l.dir)
}

// target is a gateway that runs.
type target struct {
	peer *peer
	era  wire.Era
	proc *process
	setting
	self string
	pipe *wire.Pipe // of a gateway on standard input and output

	ready   time.Duration // until it listed all tools
	cpu     time.Duration // until then
	echo    string        // its names of tools
	big     string
	listing int // bytes of its list
}

// caller is a client of a gateway.
type caller interface {
	Call(method, tool string, params []byte) ([]byte, error)
	Close()
}

// open makes a client. There is only one of a gateway on standard input and output.
func (t *target) open() (caller, error) { return t.openAt(t.urls, 0) }

func (t *target) openAt(urls []string, i int) (caller, error) {
	switch t.peer.front {
	case sse:
		return dialed(wire.DialSSE(urls[i], patience))
	case lines:
		return shared{t.pipe}, nil
	}
	return dialed(wire.DialHTTP(urls[i], t.era, t.key, patience))
}

// dialed keeps a nil pointer from becoming a caller that is not nil.
func dialed[C caller](c C, err error) (caller, error) {
	if err != nil {
		return nil, err
	}
	return c, nil
}

// shared is a client that others use, too.
type shared struct{ *wire.Pipe }

func (shared) Close() {}

// usage is what the gateway has used, without the servers behind it.
func (t *target) usage() (proc.Usage, error) { return proc.Tree(t.proc.cmd.Process.Pid, t.self) }

// behind is the server or servers behind a gateway.
type behind struct {
	set     string
	tools   int // of each
	servers int
	modern  bool
	extras
}

// extras are what only toolfit is measured with.
type extras struct {
	profiles map[string]any // nil: those of the comparison; else the key is an administrator's
	records  int            // in the store when it starts
}

// run starts servers and the gateway, and waits until it lists all tools.
func (l *lab) run(ctx context.Context, p *peer, era wire.Era, b behind) (*target, error) {
	dir, err := os.MkdirTemp(l.dir, "run-")
	if err != nil {
		return nil, err
	}
	t := &target{peer: p, era: era, self: l.self, setting: setting{dir: dir, extras: b.extras}}
	if t.addr, err = free(); err != nil {
		return nil, err
	}
	if err := l.serve(ctx, t, b); err != nil {
		return nil, err
	}
	if err := p.launch(l, p, &t.setting); err != nil {
		return nil, err
	}
	t.proc, err = l.start(ctx, dir, t.env, t.command, p.front == lines)
	if err != nil {
		return nil, err
	}
	want := b.tools * b.servers
	if b.set == upstream.SetOdd {
		want = len(upstream.OddTools)
	}
	if err := t.wait(ctx, want); err != nil {
		t.proc.end()
		return nil, err
	}
	return t, nil
}

// serve starts what is behind the gateway, or says how it is started.
func (l *lab) serve(ctx context.Context, t *target, b behind) error {
	args := []string{l.self, modeUpstream, "-set", b.set, "-tools", fmt.Sprint(b.tools), "-count", l.countFile()}
	if b.modern {
		args = append(args, "-modern")
	}
	if t.peer.lines {
		t.servers = []server{{name: "bench", command: args}}
		return nil
	}
	addr, err := free()
	if err != nil {
		return err
	}
	if _, err := l.start(ctx, t.dir, nil, append(args, "-addr", addr, "-servers", fmt.Sprint(b.servers)), false); err != nil {
		return err
	}
	for i := range b.servers {
		name := "bench"
		if b.servers > 1 {
			name = fmt.Sprintf("bench%d", i)
		}
		t.servers = append(t.servers, server{name: name, url: fmt.Sprintf("http://%s/%d/mcp", addr, i)})
	}
	for {
		conn, err := net.Dial("tcp", addr)
		if err == nil {
			conn.Close()
			return nil
		}
		if err := pause(ctx, 5*time.Millisecond); err != nil {
			return err
		}
	}
}

// wait asks until the gateway lists so many tools.
func (t *target) wait(ctx context.Context, want int) error {
	ctx, cancel := context.WithTimeoutCause(ctx, 3*patience, errors.New("it was not ready in time"))
	defer cancel()
	var last error
	for {
		list, err := t.list()
		if n := len(list); err == nil && n >= want {
			break
		} else if err == nil {
			last = fmt.Errorf("%d of %d tools listed", n, want)
		} else {
			last = err
		}
		select {
		case <-t.proc.done:
			return fmt.Errorf("%s ended: %s", t.peer.name, t.proc.said)
		default:
		}
		if err := pause(ctx, 10*time.Millisecond); err != nil {
			return fmt.Errorf("%s: %w: %w; it said: %s", t.peer.name, context.Cause(ctx), last, t.proc.said)
		}
	}
	t.ready = time.Since(t.proc.began)
	u, err := t.usage()
	t.cpu = u.CPU
	return err
}

// pause waits, but not beyond ctx.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// free is an address of loopback that nobody uses.
func free() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}
