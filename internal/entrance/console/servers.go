package console

import (
	"context"
	"html/template"
	"net/url"
	"slices"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/store"
)

// Servers reads the servers that the caller may see.
type Servers interface {
	SeenServers(who access.Principal) []restapi.Server
	SeenServer(who access.Principal, id tool.ServerID) (restapi.Server, error)
	ServerSettings(who access.Principal, id tool.ServerID) (restapi.ServerSettings, error)
}

// ServerChanges changes servers; only administrators may.
type ServerChanges interface {
	// ReadPasted reads servers in a text and stores nothing.
	ReadPasted(who access.Principal, text string, names []string) (servers []restapi.PastedServer, notes []string, err error)
	AddServer(ctx context.Context, who access.Principal, text []byte) (restapi.Server, error)
	ChangeServer(ctx context.Context, who access.Principal, id tool.ServerID, text []byte) (restapi.Server, error)
	RemoveServer(ctx context.Context, who access.Principal, id tool.ServerID) (warning string, err error)
	RefreshServer(ctx context.Context, who access.Principal, id tool.ServerID) (restapi.Server, error)
	RestartServer(ctx context.Context, who access.Principal, id tool.ServerID) (restapi.Server, error)
	EnableServer(ctx context.Context, who access.Principal, id tool.ServerID) (restapi.Server, error)
	DisableServer(ctx context.Context, who access.Principal, id tool.ServerID) (restapi.Server, error)
}

func (c *Console) serversSection() section {
	return section{name: "servers", path: "/servers", key: "s", routes: map[string]handler{
		"GET /servers":               page("servers", whole, c.listServers),
		"GET /servers/live":          page("servers", "live", c.listServers),
		"POST /servers":              c.addPasted,
		"GET /servers/add":           page("serveradd", whole, c.showPaste),
		"POST /servers/add":          c.readPasted,
		"GET /servers/add/form":      page("serverform", whole, c.emptyForm),
		"POST /servers/add/form":     c.addServer,
		"GET /servers/{id}":          page("server", whole, c.readServer),
		"GET /servers/{id}/live":     page("server", "live", c.readState),
		"GET /servers/{id}/edit":     c.editServer,
		"POST /servers/{id}/edit":    c.changeServer,
		"POST /servers/{id}/refresh": c.refreshServer,
		"POST /servers/{id}/restart": c.actOn("restarted", ServerChanges.RestartServer),
		"POST /servers/{id}/enable":  c.actOn("enabled", ServerChanges.EnableServer),
		"POST /servers/{id}/disable": c.actOn("disabled", ServerChanges.DisableServer),
		"POST /servers/{id}/remove":  c.removeServer,
		"POST /servers/{id}/approve": c.approve,
		"POST /servers/{id}/keep":    c.keepOut,
	}}
}

// ownNames are servers' names that pages have.
var ownNames = []tool.ServerID{"add", "live"}

func serverPath(id tool.ServerID) string { return "/servers/" + url.PathEscape(string(id)) }

// serverRow is a server as the list and its page show it.
type serverRow struct {
	restapi.Server
	Admin   bool
	Connect *connectionRow // the visitor signs in to it; nil: they do not
}

// step is what to do next about something; its text is console.next.KEY.
type step struct{ Path, Key string }

// NeedsSignIn tells whether it is the visitor who has to sign in.
func (r serverRow) NeedsSignIn() bool { return r.Connect != nil && r.Connect.State != store.Ready }

// Next is the next step for a server that does not work; nil: the visitor can do nothing about it.
func (r serverRow) Next() *step {
	switch {
	case r.State != upstream.Down:
		return nil
	case r.NeedsSignIn():
		return &step{connectPath(r.ID), "signIn"}
	case !r.Admin:
		return nil
	case r.Source == restapi.FromStore:
		return &step{serverPath(r.ID) + "/edit", "edit"}
	case r.Source == restapi.FromFile:
		return &step{serverPath(r.ID) + "#config", "lines"}
	}
	return nil
}

type serversPage struct {
	Servers []serverRow
	Added   []serverRow // just now, by the visitor
	Live    string
	At      time.Time
	Admin   bool
}

// Every is how often the page asks for news.
func (p serversPage) Every() string { return every(p.Servers...) }

// every is how often to look again: soon while something starts.
func every(rows ...serverRow) string {
	if slices.ContainsFunc(rows, func(r serverRow) bool { return r.State == upstream.Starting }) {
		return "1s"
	}
	return "5s"
}

func (c *Console) listServers(v *visit) (serversPage, error) {
	p := serversPage{Live: c.at("/servers/live"), At: time.Now(), Admin: v.who.MayAdmin()}
	connections, err := c.connectionRows(v, false)
	if err != nil {
		return p, err
	}
	added := v.URL.Query()["added"]
	if len(added) > 0 {
		p.Live += "?" + url.Values{"added": added}.Encode()
	}
	for _, s := range c.Servers.SeenServers(v.who) {
		row := serverRow{Server: s, Admin: p.Admin}
		for i, one := range connections {
			if one.Server == s.ID && one.Own {
				row.Connect = &connections[i]
			}
		}
		p.Servers = append(p.Servers, row)
		if slices.Contains(added, string(s.ID)) {
			p.Added = append(p.Added, row)
		}
	}
	return p, nil
}

// serverState is the part of a server's page that changes by itself.
type serverState struct {
	serverRow
	Did  string // what the visitor has just done; "": nothing
	Live string
	At   time.Time
}

// Every is how often the page asks for news.
func (s serverState) Every() string { return every(s.serverRow) }

// Version is what the server calls itself, with its version.
func (s serverState) Version() string {
	name, _ := rawjson.String(rawjson.Get(s.Info, "name"))
	if title, _ := rawjson.String(rawjson.Get(s.Info, "title")); title != "" {
		name = title
	}
	version, _ := rawjson.String(rawjson.Get(s.Info, "version"))
	if name == "" || version == "" {
		return name + version
	}
	return name + " " + version
}

// Can are the codes of what the server is able to do beside tools.
func (s serverState) Can() (can []string) {
	w := rawjson.Object(s.Capabilities)
	for w.Next() {
		switch key := string(w.Key); key {
		case "extensions":
			for x := rawjson.Object(w.Value); x.Next(); {
				can = append(can, string(x.Key))
			}
		case "experimental": // says nothing by itself
		default:
			can = append(can, key)
		}
	}
	if string(rawjson.Get(s.Capabilities, "resources", "subscribe")) == "true" {
		can = append(can, "subscribe")
	}
	for i, code := range can {
		if name, ok := extensions[code]; ok {
			can[i] = name
		}
	}
	return can
}

// extensions are the codes of those that have a word.
var extensions = map[string]string{mcp.ExtensionTasks: "tasks", mcp.ExtensionApps: "apps", mcp.ExtensionSkills: "skills"}

// deeds are what a server's page tells of after it was done.
var deeds = []string{"added", "saved", "refreshed", "restarted", "enabled", "disabled"}

func (c *Console) readState(v *visit) (serverState, error) {
	id := tool.ServerID(v.PathValue("id"))
	p := serverState{Live: c.at(serverPath(id) + "/live"), At: time.Now()}
	if did := v.URL.Query().Get("did"); slices.Contains(deeds, did) {
		p.Did = did
		p.Live += "?did=" + did
	}
	s, err := c.Servers.SeenServer(v.who, id)
	if err != nil {
		return p, err
	}
	s.Stderr = lastLines(s.Stderr)
	p.serverRow = serverRow{Server: s, Admin: v.who.MayAdmin()}
	p.Connect, err = c.connectionTo(v, id)
	return p, err
}

// errorRoom is for error output, in bytes of the page.
const errorRoom = 24_000

// lastLines are those for which a page has room.
func lastLines(lines []string) []string {
	room := errorRoom
	for i, line := range slices.Backward(lines) {
		if room -= len(template.HTMLEscapeString(line)); room < 0 {
			return lines[i+1:]
		}
	}
	return lines
}

type serverPage struct {
	serverState
	Fault    *fault.Error // why the tools could not be listed just now; nil: nobody tried, or it worked
	Settings *restapi.ServerSettings
	Config   serverConfig
	NoConfig *fault.Error // why the settings cannot be shown
	About    block
	Wait     heldList // pending approval
	Out      heldList // rejected by an administrator
}

func (c *Console) readServer(v *visit) (p serverPage, err error) {
	p.serverState, err = c.readState(v)
	if err != nil {
		return p, err
	}
	if p.Info != nil {
		p.About = code(text(v.lang, "server.info"), p.Info)
	}
	if v.who.MayRead() {
		settings, err := c.Servers.ServerSettings(v.who, p.ID)
		if err != nil {
			p.NoConfig = c.seen(v, err)
		} else {
			p.Settings = &settings
			p.Config = readConfig(settings.Config)
		}
	}
	if len(p.Held)+len(p.KeptOut) > 0 {
		var held []catalog.Held
		held, err = c.Approvals.HeldOf(v.who, p.ID)
		p.Wait, p.Out = sortHeld(held)
	}
	return p, err
}

// actOn does something with a server; its page then says how it is.
func (c *Console) actOn(did string, act func(ServerChanges, context.Context, access.Principal, tool.ServerID) (restapi.Server, error)) handler {
	return func(v *visit) (answer, error) {
		id := tool.ServerID(v.PathValue("id"))
		if _, err := act(c.ServerChanges, v.Context(), v.who, id); err != nil {
			return answer{}, err
		}
		return answer{location: serverPath(id) + "?did=" + did}, nil
	}
}

// refreshServer lists the tools of a server again. If that fails, the server's page says why.
func (c *Console) refreshServer(v *visit) (answer, error) {
	id := tool.ServerID(v.PathValue("id"))
	_, err := c.ServerChanges.RefreshServer(v.Context(), v.who, id)
	if err == nil {
		return answer{location: serverPath(id) + "?did=refreshed"}, nil
	}
	if fault.Is(err, fault.Forbidden) || fault.Is(err, fault.NotFound) {
		return answer{}, err
	}
	p, readErr := c.readServer(v)
	if p.State != upstream.Down { // else its state says it
		p.Fault = c.seen(v, err)
	}
	return answer{page: "server", data: p}, readErr
}

func (c *Console) removeServer(v *visit) (answer, error) {
	warning, err := c.ServerChanges.RemoveServer(v.Context(), v.who, tool.ServerID(v.PathValue("id")))
	switch {
	case err != nil:
		return answer{}, err
	case warning != "":
		return done("/servers", "serverInFile")
	}
	return done("/servers", "serverRemoved")
}
