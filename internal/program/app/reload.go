package app

import (
	"reflect"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/state/config"
)

// Change is what a reload did.
type Change struct {
	Added, Removed, Changed []tool.ServerID
	Settings                []string // other keys that are in force now
	Restart                 []string // keys that differ and need a restart
}

// Quiet tells whether everything in force is as before.
func (c Change) Quiet() bool {
	return len(c.Added)+len(c.Removed)+len(c.Changed)+len(c.Settings) == 0
}

// Config is the configuration in force. It is read-only.
func (a *App) Config() *config.Config { return a.current.Load() }

// Reload puts another configuration in force. Clients keep their sessions, and servers whose
// settings are unchanged keep theirs. What cannot change in a running gateway stays as it
// was, and the answer names it. It must not be called after Close.
func (a *App) Reload(cfg *config.Config) Change {
	a.reloading.Lock()
	defer a.reloading.Unlock()
	return a.apply(cfg)
}

// apply puts what the file says in force, together with the servers and rules of the store. The
// caller holds reloading.
func (a *App) apply(file *config.Config) Change {
	a.file = file
	old := a.Config()
	next := *file
	restart := keepFixed(&next, a.started)
	a.withAdded(&next)
	a.withRules(&next)
	a.withAgents(&next)
	change := Change{Restart: restart, Settings: changedSettings(old, &next)}
	change.compare(old.Servers, next.Servers)

	a.secrets.add(next.Secrets) // first: from here on anybody may log
	if change.Quiet() {
		return change
	}
	a.current.Store(&next)
	a.edge.Store(a.newEdge(&next, a.edge.Load()))
	// Removed servers go last, so that no list shows a tool that can no longer be called.
	a.Pool.Apply(append(next.Servers[:len(next.Servers):len(next.Servers)], pick(old.Servers, change.Removed)...))
	a.Catalog.Apply(&next)
	a.Pool.Apply(next.Servers)
	a.setRecall(&next)
	for _, ids := range [][]tool.ServerID{change.Added, change.Changed} {
		for _, id := range ids {
			a.Catalog.Changed(id) // its stored list may be of another server
		}
	}
	return change
}

// keepFixed puts the values that cannot change while running back to what they were at the
// start, and names those that differ.
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
	keep("limits", next.Limits == started.Limits)
	next.Listen, next.Store, next.BasePath, next.Limits = started.Listen, started.Store, started.BasePath, started.Limits
	next.Records.Durable = started.Records.Durable
	return differ
}

// comparedApart are the fields of a configuration that are no keys of the file: its path, and
// what compare and the redaction look at themselves.
var comparedApart = map[string]bool{"Path": true, "Servers": true, "Secrets": true}

// changedSettings names the keys beside the servers that are different now. It looks at every
// field there is, so that a new key cannot be forgotten.
func changedSettings(old, next *config.Config) (keys []string) {
	before, after := reflect.ValueOf(*old), reflect.ValueOf(*next)
	for i := range before.NumField() {
		name := before.Type().Field(i).Name
		if !comparedApart[name] && !reflect.DeepEqual(before.Field(i).Interface(), after.Field(i).Interface()) {
			keys = append(keys, strings.ToLower(name[:1])+name[1:])
		}
	}
	return keys
}

// compare finds which servers came, went and changed, each in the order of its file.
func (c *Change) compare(old, next []config.Server) {
	before, after := byID(old), byID(next)
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

// byID finds servers by their name. Where the file names them does not count.
func byID(servers []config.Server) map[tool.ServerID]config.Server {
	m := make(map[tool.ServerID]config.Server, len(servers))
	for _, s := range servers {
		s.Line = 0
		m[s.ID] = s
	}
	return m
}

func pick(servers []config.Server, ids []tool.ServerID) (picked []config.Server) {
	all := map[tool.ServerID]bool{}
	for _, id := range ids {
		all[id] = true
	}
	for _, s := range servers {
		if all[s.ID] {
			picked = append(picked, s)
		}
	}
	return picked
}
