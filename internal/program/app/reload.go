package app

import (
	"reflect"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
)

// Change is what a reload did.
type Change struct {
	Added, Removed, Changed []tool.ServerID
	Settings                []string // other keys that are in force now
	Restart                 []string // keys that differ and need a restart
}

// Quiet tells whether nothing in force has changed.
func (c Change) Quiet() bool {
	return len(c.Added)+len(c.Removed)+len(c.Changed)+len(c.Settings) == 0
}

// applyChange applies a configuration to the running gateway.
func (a *App) applyChange(old, next *config.Config, change Change) {
	before := a.edge.Load()
	a.edge.Store(a.newEdge(next, before))
	if before.signIn == nil && a.edge.Load().signIn != nil { // from now on local callers need the local secret
		a.sessions.EndOf(func(owner string) bool { return owner == access.Local().ID })
	}
	// Removed servers go last, so that no list shows a tool that can no longer be called.
	removed := slices.DeleteFunc(slices.Clone(old.Servers), func(s config.Server) bool { return !slices.Contains(change.Removed, s.ID) })
	a.Pool.Apply(slices.Concat(next.Servers, removed))
	a.Catalog.Apply(next)
	a.Pool.Apply(next.Servers)
	a.setRecall(next)
	for _, id := range slices.Concat(change.Added, change.Changed) {
		a.Catalog.Changed(id) // its stored list may be of another server
	}
}

// keepFixed resets the values that cannot change in a running gateway to those at the start, and
// names the ones that differ.
func keepFixed(next, started *config.Config) (differ []string) {
	keep := func(key string, same bool) {
		if !same {
			differ = append(differ, key)
		}
	}
	keep("listen", next.Listen == started.Listen)
	keep("store", next.Store == started.Store)
	keep("basePath", next.BasePath == started.BasePath)
	keep("records.durable", next.Records.Durable == started.Records.Durable)
	keep("replica", next.Replica == started.Replica)
	keep("limits", next.Limits == started.Limits)
	keep("audit.sinks", reflect.DeepEqual(next.Audit.Sinks, started.Audit.Sinks))
	keep("telemetry", reflect.DeepEqual(next.Telemetry, started.Telemetry))
	next.Listen = started.Listen
	next.Store = started.Store
	next.BasePath = started.BasePath
	next.Replica = started.Replica
	next.Limits = started.Limits
	next.Audit.Sinks = started.Audit.Sinks
	next.Telemetry = started.Telemetry
	next.Records.Durable = started.Records.Durable
	return differ
}

// comparedApart are the fields of a configuration that are not keys of the file: its path, and
// what compare and the redaction handle themselves.
var comparedApart = map[string]bool{"Path": true, "Servers": true, "Secrets": true}

// changedSettings names the changed keys other than the servers. It compares every field, so
// that a new key cannot be forgotten.
func changedSettings(old, next *config.Config) (keys []string) {
	before := reflect.ValueOf(*old)
	after := reflect.ValueOf(*next)
	for i := range before.NumField() {
		name := before.Type().Field(i).Name
		if !comparedApart[name] && !reflect.DeepEqual(before.Field(i).Interface(), after.Field(i).Interface()) {
			keys = append(keys, strings.ToLower(name[:1])+name[1:])
		}
	}
	return keys
}

// compare finds which servers were added, removed and changed, in the order of their file.
func (c *Change) compare(old, next []config.Server) {
	before := byID(old)
	after := byID(next)
	for _, s := range next {
		was, known := before[s.ID]
		switch {
		case !known:
			c.Added = append(c.Added, s.ID)
		case !reflect.DeepEqual(was, after[s.ID]):
			c.Changed = append(c.Changed, s.ID)
		}
	}
	for _, s := range old {
		if _, stays := after[s.ID]; !stays {
			c.Removed = append(c.Removed, s.ID)
		}
	}
	sameName := func(a, b config.Server) bool { return a.ID == b.ID }
	if len(c.Added)+len(c.Removed) == 0 && !slices.EqualFunc(old, next, sameName) {
		c.Settings = append(c.Settings, "mcpServers") // another order, which is that of the lists
	}
}

// byID maps names to servers. Their lines in the file are not compared.
func byID(servers []config.Server) map[tool.ServerID]config.Server {
	m := make(map[tool.ServerID]config.Server, len(servers))
	for _, s := range servers {
		s.Line = 0
		m[s.ID] = s
	}
	return m
}
