package catalog

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/mcp"
)

// app is what a tool says about the app that shows its results to a person, an HTML page of its server.
type app struct {
	uri   string // of the page; "": it has none
	alone bool   // only apps call the tool, and no model
	never bool   // no app calls it
}

const appScheme = "ui://"

func readApp(def json.RawMessage) (a app) {
	meta := rawjson.Get(def, "_meta")
	if meta == nil {
		return a
	}
	ui := rawjson.Get(meta, "ui")
	a.uri, _ = rawjson.String(rawjson.Get(ui, "resourceUri"))
	if a.uri == "" {
		a.uri, _ = rawjson.String(rawjson.Get(meta, "ui/resourceUri")) // as it was first written
	}
	if !strings.HasPrefix(a.uri, appScheme) {
		a.uri = ""
	}
	visible := rawjson.Get(ui, "visibility")
	if len(visible) == 0 || visible[0] != '[' {
		return a
	}
	a.alone, a.never = true, true
	for w := rawjson.Array(visible); w.Next(); {
		a.alone = a.alone && string(w.Value) != `"model"`
		a.never = a.never && string(w.Value) != `"app"`
	}
	a.alone = a.alone && !a.never
	return a
}

// App is the URI of the page that shows the tool's results; "": there is none.
func (e *Entry) App() string {
	if e.of == nil {
		return ""
	}
	return e.of.app.uri
}

// AppOnly tells whether only apps call the tool: it is not for models.
func (e *Entry) AppOnly() bool { return e.of != nil && e.of.app.alone }

// ForApps is the view as clients see it that render apps: it lists the tools that only apps call, and those with an app even if
// the others are left to a search.
func (v *View) ForApps() *View {
	if !slices.ContainsFunc(v.parts, func(p *part) bool { return p != nil && p.apps }) {
		return v
	}
	v.rendering.Do(func() {
		v.renderingView = &View{content: v.content}
		v.renderingView.renders = true
	})
	return v.renderingView
}

// hasListed tells whether the view's list has the tool.
func (v *View) hasListed(e *Entry) bool {
	switch {
	case e.AppOnly():
		return v.renders
	case v.renders && e.App() != "":
		return true
	}
	return !e.unlisted
}

// forModels are the part's tools without those that only apps call.
func (p *part) forModels() []*Entry {
	if !p.apps || !slices.ContainsFunc(p.kept, (*Entry).AppOnly) {
		return p.kept
	}
	return slices.DeleteFunc(slices.Clone(p.kept), (*Entry).AppOnly)
}

// FromApp returns the tool that an app means by its server's own name, which is all it knows: that of the only server that has
// it, or else of the only one with apps; nil: none has it.
func (v *View) FromApp(name string) (*Entry, error) {
	var all, withApps []*Entry
	for _, p := range v.parts {
		if p == nil {
			continue
		}
		for _, e := range p.kept {
			if e.Definition.Name != name || e.of.app.never {
				continue
			}
			all = append(all, e)
			if p.apps {
				withApps = append(withApps, e)
			}
		}
	}
	switch {
	case len(all) == 1:
		return all[0], nil
	case len(withApps) == 1:
		return withApps[0], nil
	case len(all) == 0:
		return nil, nil
	}
	names := make([]string, len(all))
	for i, e := range all {
		names[i] = e.Shown
	}
	return nil, fault.New(fault.UnknownTool, "several servers have a tool %.100s", name).WithHint("call one of %s", strings.Join(names, ", "))
}

// ForApp returns the tool that an app of a server may call by the server's own name; nil: there is none.
func (v *View) ForApp(server tool.ServerID, name string) *Entry {
	for _, p := range v.parts {
		if p == nil {
			continue
		}
		for _, e := range p.kept {
			if e.Server == server && e.Definition.Name == name && !e.of.app.never {
				return e
			}
		}
	}
	return nil
}

// ResourceOf finds a resource of a server by the server's own URI, which is all that its apps know. It returns what the server's
// list says of it; nil: the list does not have it.
func (v *View) ResourceOf(server tool.ServerID, uri string) (listed json.RawMessage, err error) {
	shown := uri
	if moved, found := v.beside.moved[appPage{server, uri}]; found {
		shown = moved
	}
	if owner, err := v.Owner(shown); err != nil || owner != server {
		return nil, fault.New(fault.NotFound, "server %s has no resource %.200s", server, uri)
	}
	for _, r := range v.beside.resources {
		if r.uri == shown {
			return r.raw, nil
		}
	}
	return nil, nil
}

// addApps makes the pages that tools name readable, though no list may have them. Servers that name equal ones stay apart: those
// after the first are ui://SERVER/….
func (g *group) addApps(b *beside) {
	for _, uri := range b.apps {
		here := uri
		_, isMoved := g.original[uri]
		if owner, taken := g.owners[uri]; taken && (owner != b.server || isMoved) { // another page has the URI, maybe one of the same server
			here = g.move(b.server, uri)
		}
		g.owners[here] = b.server
		if slices.Contains(b.withheld, uri) {
			g.owners[here] = "" // nobody reads it, and no other server has it
		}
	}
}

// move gives the page of a server's app a URI of its own, which no other has: else a server could show its page in place of
// another's. "": it is no such page.
func (g *group) move(server tool.ServerID, uri string) string {
	path, isApp := strings.CutPrefix(uri, appScheme)
	if !isApp {
		return ""
	}
	page := appPage{server, uri}
	if moved, done := g.moved[page]; done {
		return moved
	}
	moved := ""
	for taken := true; taken; _, taken = g.owners[moved] {
		path = string(server) + "/" + path
		moved = appScheme + path
	}
	if g.moved == nil {
		g.moved = map[appPage]string{}
		g.original = map[string]string{}
	}
	g.moved[page] = moved
	g.original[moved] = uri
	g.owners[moved] = server
	return moved
}

// appPage is an app's page by its server and the server's URI of it.
type appPage struct {
	server tool.ServerID
	uri    string
}

// Original is the URI of a resource as its server has it.
func (v *View) Original(uri string) string {
	if b := v.beside.amongSkills(uri); b != nil {
		return b.skills.original(uri)
	}
	if was, moved := v.beside.original[uri]; moved {
		return was
	}
	return uri
}

// withApp is a definition with the URI that its app has here.
func (v *View) withApp(e *Entry, def []byte) []byte {
	if v.beside == nil || v.beside.moved == nil { // the view is being made; or nothing has moved
		return def
	}
	moved, found := v.beside.moved[appPage{e.Server, e.App()}]
	if !found {
		return def
	}
	uri := func([]byte) []byte { return rawjson.AppendString(nil, moved) }
	return mcp.Edit(def, "_meta", func(meta []byte) []byte {
		meta = mcp.Edit(meta, "ui/resourceUri", uri)
		return mcp.Edit(meta, "ui", func(ui []byte) []byte { return mcp.Edit(ui, "resourceUri", uri) })
	})
}

// addExtensions adds the extensions that a server has. Of equal ones the settings of all servers count, of equal settings those of
// the first; but what one server can, counts.
func (g *group) addExtensions(b *beside) {
	for w := rawjson.Object(b.extensions); w.Next(); {
		name := string(w.Key)
		if name == mcp.ExtensionTasks || w.Value[0] != '{' { // tasks are ours
			continue
		}
		if name != mcp.ExtensionApps && name != mcp.ExtensionSkills && !slices.Contains(g.extended, b.server) {
			g.extended = append(g.extended, b.server)
		}
		settings := g.settings[name]
		if settings == nil {
			settings = map[string]json.RawMessage{}
			if g.settings == nil {
				g.settings = map[string]map[string]json.RawMessage{}
			}
			g.settings[name] = settings
		}
		for s := rawjson.Object(w.Value); s.Next(); {
			key := string(s.Key)
			if had, there := settings[key]; !there || string(had) == "false" && string(s.Value) == "true" {
				settings[key] = s.Value
			}
		}
	}
}

// Extensions are those that the profile's servers have, nil for none, and the servers with some that may have methods of their own.
// The zero view has none.
func (v *View) Extensions() (all json.RawMessage, servers []tool.ServerID) {
	if v.beside == nil {
		return nil, nil
	}
	return v.beside.extensions, v.beside.extended
}
