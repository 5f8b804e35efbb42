package console

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/internal/state/access"
)

// Servers are the servers as the caller sees them.
type Servers interface {
	SeenServers(who access.Principal) []restapi.Server
	SeenServer(who access.Principal, id tool.ServerID) (restapi.Server, error)
	HeldOf(who access.Principal, id tool.ServerID) ([]catalog.Held, error)
}

// ServerChanges are what administrators do to servers.
type ServerChanges interface {
	AddServer(ctx context.Context, who access.Principal, text []byte) (restapi.Server, error)
	RemoveServer(ctx context.Context, who access.Principal, id tool.ServerID) (warning string, err error)
	RefreshServer(ctx context.Context, who access.Principal, id tool.ServerID) (restapi.Server, error)
	ApproveHeld(ctx context.Context, who access.Principal, id tool.ServerID, names ...string) (int, error)
	KeepOutHeld(ctx context.Context, who access.Principal, id tool.ServerID, names ...string) (int, error)
}

func (c *Console) serversSection() section {
	return section{name: "servers", path: "/servers", key: "s", routes: map[string]handler{
		"GET /servers":               func(v *visit) (answer, error) { return show("servers", c.serverList(v)) },
		"GET /servers/live":          func(v *visit) (answer, error) { return part("servers", "live", c.serverList(v)) },
		"POST /servers":              c.addServer,
		"GET /servers/{id}":          c.showServer,
		"POST /servers/{id}/refresh": c.refreshServer,
		"POST /servers/{id}/remove":  c.removeServer,
		"POST /servers/{id}/approve": c.approve,
		"POST /servers/{id}/keep":    c.keepOut,
	}}
}

// serversPage is what the list of servers shows.
type serversPage struct {
	Servers []restapi.Server
	Live    string
	At      time.Time
	Admin   bool
	Refused refused // why none was added
}

// serverPage is what the page of one server shows.
type serverPage struct {
	restapi.Server
	Admin bool
	About block
	Wait  []held // for approval
	Out   []held // somebody has decided to keep them out
}

func (c *Console) serverList(v *visit) serversPage {
	return serversPage{Servers: c.Gateway.SeenServers(v.who), Live: c.at("/servers/live"), At: time.Now(), Admin: v.who.MayAdmin()}
}

func (c *Console) showServer(v *visit) (answer, error) {
	id := tool.ServerID(v.PathValue("id"))
	s, err := c.Gateway.SeenServer(v.who, id)
	if err != nil {
		return answer{}, err
	}
	p := serverPage{Server: s, Admin: v.who.MayAdmin()}
	if s.Info != nil {
		p.About = code(text(v.lang, "server.info"), s.Info)
	}
	if len(s.Held)+len(s.KeptOut) > 0 {
		held, err := c.Gateway.HeldOf(v.who, id)
		if err != nil {
			return answer{}, err
		}
		p.Wait, p.Out = sortHeld(held)
	}
	return show("server", p)
}

func (c *Console) addServer(v *visit) (answer, error) {
	config, err := serverOf(v.PostForm.Get)
	var s restapi.Server
	if err == nil {
		s, err = c.Gateway.AddServer(v.Context(), v.who, config)
	}
	if why, fixable := refusal(v, err); err != nil && fixable {
		p := c.serverList(v)
		p.Refused = why
		return show("servers", p)
	}
	if err != nil {
		return answer{}, err
	}
	return done("/servers/"+string(s.ID), "serverAdded")
}

// serverOf makes the configuration of a server from a form.
func serverOf(get func(string) string) ([]byte, error) {
	config := map[string]any{"name": strings.TrimSpace(get("name"))}
	put := func(key string, value any, has bool) {
		if has {
			config[key] = value
		}
	}
	switch kind := get("kind"); kind {
	case "command":
		config["command"] = strings.TrimSpace(get("command"))
		args := lines(get("args"))
		put("args", args, len(args) > 0)
		env, err := pairs(get("env"), "=")
		if err != nil {
			return nil, err
		}
		put("env", env, len(env) > 0)
	case "url":
		config["url"] = strings.TrimSpace(get("url"))
		headers, err := pairs(get("headers"), ":")
		if err != nil {
			return nil, err
		}
		put("headers", headers, len(headers) > 0)
	case "openapi":
		config["spec"] = strings.TrimSpace(get("spec"))
		base := strings.TrimSpace(get("base"))
		put("base", base, base != "")
	default:
		return nil, fault.New(fault.BadRequest, "there is no kind of server %.40q", kind)
	}
	return json.Marshal(config)
}

// lines are the lines of a text that are not blank.
func lines(text string) (all []string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			all = append(all, line)
		}
	}
	return all
}

// pairs are names and values, one pair on each line.
func pairs(text, between string) (map[string]string, error) {
	all := map[string]string{}
	for _, line := range lines(text) {
		name, value, ok := strings.Cut(line, between)
		if !ok {
			return nil, fault.New(fault.BadRequest, "a line lacks %q between name and value", between)
		}
		all[strings.TrimSpace(name)] = strings.TrimSpace(value)
	}
	return all, nil
}

// refreshServer asks a server for its list: the test whether it works. Why it does not is on
// its page.
func (c *Console) refreshServer(v *visit) (answer, error) {
	id := v.PathValue("id")
	_, err := c.Gateway.RefreshServer(v.Context(), v.who, tool.ServerID(id))
	switch {
	case fault.Is(err, fault.Forbidden), fault.Is(err, fault.NotFound):
		return answer{}, err
	case err != nil:
		return done("/servers/"+id, "serverSilent")
	}
	return done("/servers/"+id, "serverAnswered")
}

func (c *Console) removeServer(v *visit) (answer, error) {
	warning, err := c.Gateway.RemoveServer(v.Context(), v.who, tool.ServerID(v.PathValue("id")))
	switch {
	case err != nil:
		return answer{}, err
	case warning != "":
		return done("/servers", "serverInFile")
	}
	return done("/servers", "serverRemoved")
}
