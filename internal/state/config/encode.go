package config

import (
	"maps"
	"slices"
	"time"

	"github.com/toolfit/toolfit/internal/base/doctree"
)

// fileEntry is an entry of the file while it is written. What is not set stays out.
type fileEntry struct{ *node }

func newEntry() fileEntry { return fileEntry{&node{Kind: doctree.Mapping}} }

func (f fileEntry) put(key string, value *node) {
	if value.Text != "" || len(value.Items)+len(value.Entries) > 0 {
		f.Add(key, value)
	}
}

func (f fileEntry) text(key, value string) { f.put(key, doctree.NewText(value)) }

func (f fileEntry) texts(key string, values []string) { f.put(key, doctree.NewList(values)) }

func (f fileEntry) pairs(key string, values map[string]string) { f.put(key, doctree.NewMap(values)) }

func (f fileEntry) duration(key string, value, usual time.Duration) {
	if value != 0 && value != usual {
		f.text(key, formatDuration(value))
	}
}

func (f fileEntry) yes(key string, value bool) {
	if value {
		f.put(key, doctree.NewBool(true))
	}
}

// encode returns a server as the file has it. What is the default is left out.
func encode(s Server) *node {
	f := newEntry()
	if s.API != nil {
		f.api(s)
	} else {
		f.text("type", s.Type)
		f.text("command", s.Command)
		f.texts("args", s.Args)
		f.pairs("env", s.Env)
		if slices.Equal(s.Inherit, []string{"*"}) {
			f.text("inherit", "all")
		} else {
			f.texts("inherit", s.Inherit)
		}
		f.text("cwd", s.Cwd)
		if s.Sandbox != nil {
			f.Add("sandbox", encodeSandbox(s.Sandbox))
		}
		f.text("url", s.URL)
		f.pairs("headers", s.Headers)
		f.text("builtin", s.Builtin)
	}
	if s.OAuth != nil {
		f.put("oauth", s.OAuth.encode())
	}
	f.duration("timeout", s.Timeout, 0)
	limits := newEntry()
	for _, t := range s.Timeouts {
		limits.text(t.Glob, formatDuration(t.Timeout))
	}
	f.put("timeouts", limits.node)
	f.text("detach", s.Detach.String())
	f.text("approve", s.Approve)
	f.duration("start", s.Start, defaultStart)
	f.duration("idle", s.Idle, defaultIdle)
	f.text("isolation", s.Isolation)
	f.text("utf8", s.UTF8)
	f.yes("disabled", s.Disabled)
	f.duration("refresh", s.Refresh, defaultRefresh)
	f.text("proxy", s.Proxy)
	if s.Concurrency > 0 {
		f.put("concurrency", doctree.NewNumber(s.Concurrency))
		if s.Queue != defaultQueue { // without a limit nothing waits
			f.put("queue", doctree.NewNumber(s.Queue))
		}
	}
	if s.Breaker != (Breaker{}) && s.Breaker != usualBreaker {
		breaker := newEntry()
		breaker.put("failures", doctree.NewNumber(s.Breaker.Failures))
		breaker.text("pause", formatDuration(s.Breaker.Pause))
		f.put("breaker", breaker.node)
	}
	return f.node
}

// api adds what only an HTTP API has.
func (f fileEntry) api(s Server) {
	a := s.API
	f.text("spec", a.Spec)
	f.text("base", a.Base)
	f.texts("tags", a.Tags)
	f.texts("paths", a.Paths)
	f.texts("methods", a.Methods)
	f.texts("operations", a.Operations)
	f.yes("readOnly", a.ReadOnly)
	if a.Layout != "flat" {
		f.text("layout", a.Layout)
	}
	auth := newEntry()
	for _, scheme := range slices.Sorted(maps.Keys(a.Auth)) {
		auth.credential(scheme, a.Auth[scheme])
	}
	f.put("auth", auth.node)
	f.pairs("headers", s.Headers)
	f.pairs("variables", a.Variables)
	var allow []string
	for _, network := range a.Allow {
		allow = append(allow, network.String())
	}
	f.texts("allow", allow)
}

func (f fileEntry) credential(scheme string, c Credential) {
	inner := newEntry()
	inner.text("value", c.Value)
	inner.text("user", c.User)
	inner.text("password", c.Password)
	inner.text("clientId", c.ClientID)
	inner.text("clientSecret", c.ClientSecret)
	inner.text("tokenUrl", c.TokenURL)
	inner.texts("scopes", c.Scopes)
	if len(inner.Entries) == 1 && c.Value != "" {
		f.text(scheme, c.Value)
		return
	}
	f.put(scheme, inner.node)
}
