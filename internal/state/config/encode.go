package config

import (
	"maps"
	"slices"
	"time"

	"github.com/toolfit/toolfit/internal/base/doctree"
)

// fileEntry is an entry of the file while it is written: what is not set, or is the
// default, stays out.
type fileEntry struct{ n *node }

func (f fileEntry) put(key string, value *node) {
	f.n.Entries = append(f.n.Entries, entry{Key: key, Value: value})
}

func (f fileEntry) text(key, value string) {
	if value != "" {
		f.put(key, doctree.NewText(value))
	}
}

func (f fileEntry) texts(key string, values []string) {
	if len(values) == 0 {
		return
	}
	list := &node{Kind: doctree.List}
	for _, v := range values {
		list.Items = append(list.Items, doctree.NewText(v))
	}
	f.put(key, list)
}

func (f fileEntry) pairs(key string, values map[string]string) {
	if len(values) > 0 {
		f.put(key, doctree.NewMap(values))
	}
}

func (f fileEntry) duration(key string, value, usual time.Duration) {
	if value != 0 && value != usual {
		f.put(key, doctree.NewText(formatDuration(value)))
	}
}

func (f fileEntry) yes(key string, value bool) {
	if value {
		f.put(key, &node{Kind: doctree.Bool, Text: "true"})
	}
}

// encode is a server as the file holds it.
func encode(s Server) *node {
	f := fileEntry{&node{Kind: doctree.Mapping}}
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
		f.text("url", s.URL)
		f.pairs("headers", s.Headers)
		f.text("builtin", s.Builtin)
	}
	f.duration("timeout", s.Timeout, defaultTimeout)
	if len(s.Timeouts) > 0 {
		limits := &node{Kind: doctree.Mapping}
		for _, t := range s.Timeouts {
			limits.Entries = append(limits.Entries, entry{Key: t.Glob, Value: doctree.NewText(formatDuration(t.Timeout))})
		}
		f.put("timeouts", limits)
	}
	f.duration("start", s.Start, defaultStart)
	f.duration("idle", s.Idle, defaultIdle)
	f.text("isolation", s.Isolation)
	f.text("utf8", s.UTF8)
	f.yes("disabled", s.Disabled)
	f.duration("refresh", s.Refresh, defaultRefresh)
	f.text("proxy", s.Proxy)
	if s.Concurrency > 0 {
		f.put("concurrency", doctree.NewNumber(s.Concurrency))
		if s.Queue != defaultQueue { // without a limit nobody waits
			f.put("queue", doctree.NewNumber(s.Queue))
		}
	}
	if s.Breaker != (Breaker{}) && s.Breaker != usualBreaker {
		f.put("breaker", &node{Kind: doctree.Mapping, Entries: []entry{
			{Key: "failures", Value: doctree.NewNumber(s.Breaker.Failures)}, {Key: "pause", Value: doctree.NewText(formatDuration(s.Breaker.Pause))},
		}})
	}
	return f.n
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
	if len(a.Auth) > 0 {
		auth := fileEntry{&node{Kind: doctree.Mapping}}
		for _, scheme := range slices.Sorted(maps.Keys(a.Auth)) {
			auth.credential(scheme, a.Auth[scheme])
		}
		f.put("auth", auth.n)
	}
	f.pairs("headers", s.Headers)
	f.pairs("variables", a.Variables)
	var allow []string
	for _, network := range a.Allow {
		allow = append(allow, network.String())
	}
	f.texts("allow", allow)
}

func (f fileEntry) credential(scheme string, c Credential) {
	inner := fileEntry{&node{Kind: doctree.Mapping}}
	inner.text("value", c.Value)
	inner.text("user", c.User)
	inner.text("password", c.Password)
	inner.text("clientId", c.ClientID)
	inner.text("clientSecret", c.ClientSecret)
	inner.text("tokenUrl", c.TokenURL)
	inner.texts("scopes", c.Scopes)
	if len(inner.n.Entries) == 1 && c.Value != "" {
		f.text(scheme, c.Value)
		return
	}
	f.put(scheme, inner.n)
}
