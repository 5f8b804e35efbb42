package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// lab is everything that runs while bench measures, until its context ends.
type lab struct {
	program string // the built toolfit
	dir     string // for configurations and stores
	work    sync.WaitGroup
	servers map[string]*process // the upstream servers, by era
	targets []*target           // for the clients of each era: the proxy, then the gateways
	signIns []signIn            // one for each era
	cuts    []*target           // gateways that cut results: without keeping them, and with
}

// signIn is a gateway with an identity provider, for callers with a key and for callers with a token.
type signIn struct{ key, token *target }

// open starts a server and a proxy for each era, and a gateway for each pair of client and server.
func (l *lab) open(ctx context.Context, stream bool) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	form := "json"
	if stream {
		form = "sse"
	}
	l.servers = map[string]*process{}
	for _, era := range []string{legacy, modern} {
		l.servers[era], err = start(ctx, &l.work, self, modeUpstream, era, form)
		if err != nil {
			return err
		}
	}
	for _, era := range []string{legacy, modern} {
		proxy, err := start(ctx, &l.work, self, modeProxy, l.servers[era].addr)
		if err != nil {
			return err
		}
		l.targets = append(l.targets, &target{name: era + " → proxy", era: era, proc: proxy, upstream: l.servers[era]})
		for _, server := range []string{legacy, modern} {
			t, err := l.gateway(ctx, era, server, "")
			if err != nil {
				return err
			}
			l.targets = append(l.targets, t)
		}
	}
	if err := l.openCuts(ctx); err != nil {
		return err
	}
	return l.openSignIns(ctx)
}

// openCuts starts gateways with a rule for large results.
func (l *lab) openCuts(ctx context.Context) error {
	for _, store := range []string{"none", "cut"} {
		t, err := l.gateway(ctx, legacy, legacy, "results: [{tool: bench__big, keep: \"rows(id,label)\"}]\nresultStore: "+store+"\n")
		if err != nil {
			return err
		}
		t.name = "legacy → toolfit, resultStore " + store + " → legacy"
		l.cuts = append(l.cuts, t)
	}
	return nil
}

// openSignIns starts a gateway with an identity provider for each era.
func (l *lab) openSignIns(ctx context.Context) error {
	p, err := newProvider(ctx)
	if err != nil {
		return err
	}
	token, err := p.token()
	if err != nil {
		return err
	}
	public := strings.TrimSuffix(resource, "/mcp")
	more := fmt.Sprintf("publicURL: %s\nidentity:\n- {issuer: %q, scope: mcp:tools, map: [{groups: [eng]}]}\n", public, p.issuer)
	for _, era := range []string{legacy, modern} {
		key, err := l.gateway(ctx, era, era, more)
		if err != nil {
			return err
		}
		key.name = era + " → toolfit, key or token → " + era
		with := *key
		with.key = token
		l.signIns = append(l.signIns, signIn{key, &with})
	}
	return nil
}

// gateway starts a toolfit with a folder and key of its own, for clients and a server of these eras, and more in its
// configuration.
func (l *lab) gateway(ctx context.Context, client, server, more string) (*target, error) {
	dir, err := os.MkdirTemp(l.dir, "gateway-")
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "toolfit.yaml")
	text := fmt.Sprintf("store: toolfit.db\nmcpServers:\n  bench: {url: \"http://%s/mcp\"}\nrecall: {}\n", l.servers[server].addr)
	if err := os.WriteFile(file, []byte(text+more), 0o600); err != nil {
		return nil, err
	}
	key, err := exec.CommandContext(ctx, l.program, "keys", "create", "bench", "--config", file).Output()
	if err != nil {
		return nil, fmt.Errorf("create key: %w", err)
	}
	proc, err := start(ctx, &l.work, l.program, "serve", "--config", file, "--listen", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	t := &target{
		name: client + " → toolfit → " + server, era: client, proc: proc, upstream: l.servers[server],
		prefix: "bench__", key: string(bytes.TrimSpace(key)),
	}
	c, err := open(ctx, t, patience)
	if err != nil {
		return nil, err
	}
	defer c.close()
	return t, newCaller(c, list()).call() // the first list waits for the server
}

const (
	settle       = 3 * time.Second // how long a gateway is left alone before its memory is read
	openSessions = 1000            // when memory per session is measured
)

// memory reads what a fresh gateway takes, and how much more with each open session: a connection
// that has made a call, and one for its stream.
func (l *lab) memory(ctx context.Context) (idle, perSession int64, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // closes the connections
	t, err := l.gateway(ctx, legacy, legacy, "")
	if err != nil {
		return 0, 0, err
	}
	idle, err = settled(ctx, t.proc)
	if err != nil {
		return 0, 0, err
	}
	for range openSessions {
		if err := join(ctx, t); err != nil {
			return 0, 0, err
		}
	}
	full, err := settled(ctx, t.proc)
	return idle, (full - idle) / openSessions, err
}

// join opens a session with its stream, which last until ctx ends.
func join(ctx context.Context, t *target) error {
	const limit = 10 * time.Minute
	c, err := open(ctx, t, limit)
	if err != nil {
		return err
	}
	if err := newCaller(c, echo()).call(); err != nil {
		return err
	}
	stream, err := dial(ctx, t, limit)
	if err != nil {
		return err
	}
	_, err = stream.send(c.request("GET", "/mcp", "", ""))
	return err
}

func settled(ctx context.Context, p *process) (int64, error) {
	select {
	case <-time.After(settle):
		return p.rss()
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}
