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

// Servers reads the servers that the caller may see.
type Servers interface {
	SeenServers(who access.Principal) []restapi.Server
	SeenServer(who access.Principal, id tool.ServerID) (restapi.Server, error)
}

// ServerChanges changes servers; only administrators may.
type ServerChanges interface {
	AddServer(ctx context.Context, who access.Principal, text []byte) (restapi.Server, error)
	RemoveServer(ctx context.Context, who access.Principal, id tool.ServerID) (warning string, err error)
	RefreshServer(ctx context.Context, who access.Principal, id tool.ServerID) (restapi.Server, error)
}

func (c *Console) serversSection() section {
	return section{name: "servers", path: "/servers", key: "s", routes: map[string]handler{
		"GET /servers":               page("servers", whole, c.listServers),
		"GET /servers/live":          page("servers", "live", c.listServers),
		"POST /servers":              c.addServer,
		"GET /servers/{id}":          page("server", whole, c.readServer),
		"POST /servers/{id}/refresh": c.refreshServer,
		"POST /servers/{id}/remove":  c.removeServer,
		"POST /servers/{id}/approve": c.approve,
		"POST /servers/{id}/keep":    c.keepOut,
	}}
}

type serversPage struct {
	Servers []restapi.Server
	Live    string
	At      time.Time
	Admin   bool
	Input   input
}

type serverPage struct {
	restapi.Server
	Admin   bool
	Connect *connectionRow // the visitor signs in to it; nil: they do not
	About   block
	Wait    []held // pending approval
	Out     []held // rejected by an administrator
}

func (c *Console) listServers(v *visit) (serversPage, error) {
	return serversPage{Servers: c.Servers.SeenServers(v.who), Live: c.at("/servers/live"), At: time.Now(), Admin: v.who.MayAdmin()}, nil
}

func (c *Console) readServer(v *visit) (serverPage, error) {
	id := tool.ServerID(v.PathValue("id"))
	s, err := c.Servers.SeenServer(v.who, id)
	p := serverPage{Server: s, Admin: v.who.MayAdmin()}
	if err == nil {
		p.Connect, err = c.connectionTo(v, id)
	}
	if s.Info != nil {
		p.About = code(text(v.lang, "server.info"), s.Info)
	}
	if err == nil && len(s.Held)+len(s.KeptOut) > 0 {
		var held []catalog.Held
		held, err = c.Approvals.HeldOf(v.who, id)
		p.Wait, p.Out = sortHeld(held)
	}
	return p, err
}

func (c *Console) addServer(v *visit) (answer, error) {
	config, err := serverOf(v.PostForm.Get)
	var s restapi.Server
	if err == nil {
		s, err = c.ServerChanges.AddServer(v.Context(), v.who, config)
	}
	if in, ok := rejected(v, err); ok {
		p, err := c.listServers(v)
		p.Input = in
		return answer{page: "servers", data: p}, err
	}
	if err != nil {
		return answer{}, err
	}
	return done("/servers/"+string(s.ID), "serverAdded")
}

// serverOf is the configuration of a server from the fields of a form.
func serverOf(get func(string) string) ([]byte, error) {
	var config struct {
		Name    string            `json:"name"`
		Command string            `json:"command,omitempty"`
		Args    []string          `json:"args,omitempty"`
		Env     map[string]string `json:"env,omitempty"`
		URL     string            `json:"url,omitempty"`
		Headers map[string]string `json:"headers,omitempty"`
		Spec    string            `json:"spec,omitempty"`
		Base    string            `json:"base,omitempty"`
	}
	config.Name = strings.TrimSpace(get("name"))
	var err error
	switch kind := get("kind"); kind {
	case "command":
		config.Command = strings.TrimSpace(get("command"))
		config.Args = lines(get("args"))
		config.Env, err = pairs(get("env"), "=")
	case "url":
		config.URL = strings.TrimSpace(get("url"))
		config.Headers, err = pairs(get("headers"), ":")
	case "openapi":
		config.Spec = strings.TrimSpace(get("spec"))
		config.Base = strings.TrimSpace(get("base"))
	default:
		return nil, fault.New(fault.BadRequest, "unknown kind of server: %.40q", kind)
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(config)
}

func lines(text string) (all []string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			all = append(all, line)
		}
	}
	return all
}

// pairs reads a name and a value from each line.
func pairs(text, between string) (map[string]string, error) {
	all := map[string]string{}
	for _, line := range lines(text) {
		name, value, ok := strings.Cut(line, between)
		if !ok {
			return nil, fault.New(fault.BadRequest, "a line has no %q between name and value", between)
		}
		all[strings.TrimSpace(name)] = strings.TrimSpace(value)
	}
	return all, nil
}

// refreshServer lists the tools of a server again. If that fails, the server's page says why.
func (c *Console) refreshServer(v *visit) (answer, error) {
	id := v.PathValue("id")
	_, err := c.ServerChanges.RefreshServer(v.Context(), v.who, tool.ServerID(id))
	switch {
	case fault.Is(err, fault.Forbidden), fault.Is(err, fault.NotFound):
		return answer{}, err
	case err != nil:
		return done("/servers/"+id, "serverSilent")
	}
	return done("/servers/"+id, "serverAnswered")
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
