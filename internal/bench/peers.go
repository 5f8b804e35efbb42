package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// peer is a gateway, or one way to run it.
type peer struct {
	name   string
	does   string // what it is, for the page
	how    string // how it is run, for the page
	npm    string // package and version, if it comes from npm
	module string // Go module and version, if it comes from the module proxy
	source string // its main package in a folder with its source; "" if PEERS cannot name it
	way    string // name of the gateway of which this is another way to run
	why    string // why it cannot be had, if neither
	modern bool   // it speaks 2026-07-28, too
	lines  bool   // the server behind it is on standard input and output
	many   bool   // it takes many servers
	front  front
	launch func(l *lab, p *peer, s *setting) error
	find   func(query string) (tool, params string) // a search for tools, if it has one
}

// front is the transport on which a gateway serves.
type front int

const (
	streamable front = iota // Streamable HTTP
	sse                     // HTTP+SSE, the transport before it
	lines                   // standard input and output
)

// setting is one start of a gateway: what it has to do, and what launch makes of that.
type setting struct {
	dir     string   // a folder of its own, and its home
	addr    string   // where to listen
	servers []server // behind it
	extras

	command []string
	env     []string
	urls    []string // its endpoints: all are listed to see all tools, the first takes calls
	finds   string   // endpoint of its search
	key     string
}

// server is a server as a gateway's configuration has it.
type server struct {
	name    string
	url     string
	command []string
}

const toolfit = "toolfit"

// peers are all that is compared, in the page's order. The first is what others are compared with.
var peers = []*peer{
	{name: "reverse proxy", does: "the least that forwarding costs: `httputil.ReverseProxy` of Go, which looks at nothing",
		modern: true, launch: launchProxy},
	{name: toolfit, does: "gateway", how: "`toolfit serve`, with keys, metrics and records",
		modern: true, many: true, launch: launchToolfit, find: func(q string) (string, string) {
			return "find_tools", fmt.Sprintf(`{"name":"find_tools","arguments":{"query":%q,"limit":5}}`, q)
		}},
	{name: "toolfit, stdio server", does: "the same, with a server on standard input and output", how: "`toolfit serve`", way: toolfit,
		modern: true, lines: true, launch: launchToolfit},
	{name: "toolfit stdio", does: "the same for one client on standard input and output", how: "`toolfit stdio --standalone`",
		front: lines, launch: launchToolfit},
	{name: "TBXark/mcp-proxy", does: "many servers behind one address, each at a path of its own", how: "`type: streamable-http`",
		module: "github.com/TBXark/mcp-proxy@v0.43.2", source: ".", many: true, launch: launchTBXark},
	{name: "mcpproxy-go", does: "gateway with a search for tools",
		how: "`mcpproxy serve`; lists and calls at `/mcp/all`; `tool_response_limit: 0`, `auto_approve_tool_changes: true`; " +
			"its detection of sensitive data is on, as by default",
		why:    "the module proxy gave none of the versions that were tried; `PEERS=mcpproxy-go=PATH` names a program or its source",
		source: "./cmd/mcpproxy", many: true, launch: launchMCPProxyGo(true), find: func(q string) (string, string) {
			return "retrieve_tools", fmt.Sprintf(`{"name":"retrieve_tools","arguments":{"query":%q,"limit":5}}`, q)
		}},
	{name: "mcpproxy-go, detection off", does: "the same", how: "the same with `sensitive_data_detection: {enabled: false}`",
		why: "see mcpproxy-go", way: "mcpproxy-go", launch: launchMCPProxyGo(false)},
	{name: "mcp-hub", does: "gateway; serves the older HTTP+SSE", how: "`mcp-hub --port --config`",
		npm: "mcp-hub@4.2.1", many: true, front: sse, launch: launchHub},
	{name: "mcp-proxy (npm)", does: "one stdio server → HTTP", how: "`mcp-proxy --port -- COMMAND`",
		npm: "mcp-proxy@6.7.19", modern: true, lines: true, launch: launchNPMProxy},
	{name: "supergateway", does: "one stdio server → HTTP, a server process for each session",
		how: "`--outputTransport streamableHttp --stateful`",
		npm: "supergateway@4.0.0", modern: true, lines: true, launch: launchSupergateway("--stateful")},
	{name: "supergateway, stateless", does: "one stdio server → HTTP, a server process for each request",
		how: "`--outputTransport streamableHttp`, its default",
		npm: "supergateway@4.0.0", way: "supergateway", lines: true, launch: launchSupergateway()},
	{name: "mcp-remote", does: "one HTTP server → stdio, for one client", how: "`mcp-remote URL --transport http-only`",
		npm: "mcp-remote@0.15.1", front: lines, launch: launchRemote},
	{name: "ToolHive proxy runner", why: "not built: it is made for Kubernetes, and `thv` for servers in containers"},
	{name: "Bifrost", why: "the module proxy gave none of the versions that were tried"},
	{name: "Docker MCP Gateway", why: "not built: it is made for servers in containers and takes many minutes to compile"},
}

// named are those that PEERS can name.
func named() []string {
	var all []string
	for _, p := range peers {
		if p.source != "" {
			all = append(all, p.name)
		}
	}
	return all
}

func byName(name string) *peer {
	for _, p := range peers {
		if p.name == name {
			return p
		}
	}
	return nil
}

func launchProxy(l *lab, _ *peer, s *setting) error {
	s.command = []string{l.self, modeProxy, s.addr, s.servers[0].url}
	s.urls = []string{"http://" + s.addr + "/mcp"}
	return nil
}

func launchToolfit(l *lab, p *peer, s *setting) error {
	servers := map[string]any{}
	for _, one := range s.servers {
		if servers[one.name] = map[string]any{"url": one.url}; one.command != nil {
			servers[one.name] = map[string]any{"command": one.command[0], "args": one.command[1:]}
		}
	}
	config := map[string]any{"store": "toolfit.db", "mcpServers": servers}
	profiles, role := "default", "caller"
	if s.profiles != nil {
		config["profiles"], profiles, role = s.profiles, "*", "admin"
	} else if len(s.servers) > 1 { // the search, too
		config["profiles"] = map[string]any{"default": map[string]any{}, "find": map[string]any{"search": "on"}}
		profiles += ",find"
	}
	file := filepath.Join(s.dir, "toolfit.yaml")
	if err := writeJSON(file, config); err != nil { // JSON is YAML
		return err
	}
	if p.front == lines {
		s.command = []string{l.program, "stdio", "--standalone", "--config", file, "--listen", s.addr}
		return nil
	}
	key, err := exec.Command(l.program, "keys", "create", "bench", "--profile", profiles, "--role", role, "--config", file).Output()
	if err != nil {
		return fmt.Errorf("create key: %w", err)
	}
	if s.records > 0 {
		fill := exec.Command(l.filler(), "fill", filepath.Join(s.dir, "toolfit.db"), fmt.Sprint(s.records))
		if err := said(fill, "write records"); err != nil {
			return err
		}
	}
	s.key = string(bytes.TrimSpace(key))
	s.command = []string{l.program, "serve", "--config", file, "--listen", s.addr}
	s.urls = []string{"http://" + s.addr + "/mcp"}
	s.finds = "http://" + s.addr + "/mcp/find"
	return nil
}

func launchTBXark(l *lab, p *peer, s *setting) error {
	servers := map[string]any{}
	for _, one := range s.servers {
		servers[one.name] = map[string]any{"transportType": "streamable-http", "url": one.url}
		s.urls = append(s.urls, "http://"+s.addr+"/"+one.name+"/mcp")
	}
	file := filepath.Join(s.dir, "config.json")
	s.command = []string{l.where[p.name], "--config", file}
	return writeJSON(file, map[string]any{
		"mcpProxy":   map[string]any{"baseURL": "http://" + s.addr, "addr": s.addr, "name": "bench", "version": "1", "type": "streamable-http"},
		"mcpServers": servers,
	})
}

func launchMCPProxyGo(detect bool) func(*lab, *peer, *setting) error {
	return func(l *lab, _ *peer, s *setting) error {
		var servers []any
		for _, one := range s.servers {
			servers = append(servers, map[string]any{
				"name": one.name, "protocol": "streamable-http", "url": one.url, "enabled": true, "auto_approve_tool_changes": true,
			})
		}
		file := filepath.Join(s.dir, "mcp_config.json")
		s.command = []string{l.where["mcpproxy-go"], "serve", "--config", file}
		s.env = []string{"MCPPROXY_TELEMETRY=false", "DO_NOT_TRACK=1"}
		s.urls = []string{"http://" + s.addr + "/mcp/all"}
		s.finds = "http://" + s.addr + "/mcp/call"
		config := map[string]any{"listen": s.addr, "data_dir": filepath.Join(s.dir, "data"), "tool_response_limit": 0, "mcpServers": servers}
		if !detect {
			config["sensitive_data_detection"] = map[string]any{"enabled": false}
		}
		return writeJSON(file, config)
	}
}

func launchHub(l *lab, p *peer, s *setting) error {
	servers := map[string]any{}
	for _, one := range s.servers {
		servers[one.name] = map[string]any{"url": one.url}
	}
	file := filepath.Join(s.dir, "config.json")
	s.command = l.node(p, "--port", port(s.addr), "--config", file)
	s.urls = []string{"http://" + s.addr + "/mcp"}
	return writeJSON(file, map[string]any{"mcpServers": servers})
}

func launchNPMProxy(l *lab, p *peer, s *setting) error {
	s.command = append(l.node(p, "--host", "127.0.0.1", "--port", port(s.addr), "--"), s.servers[0].command...)
	s.urls = []string{"http://" + s.addr + "/mcp"}
	return nil
}

func launchSupergateway(more ...string) func(*lab, *peer, *setting) error {
	return func(l *lab, p *peer, s *setting) error {
		var quoted []string
		for _, word := range s.servers[0].command {
			quoted = append(quoted, "'"+strings.ReplaceAll(word, "'", `'\''`)+"'")
		}
		s.command = l.node(p, "--stdio", strings.Join(quoted, " "), "--outputTransport", "streamableHttp", "--port", port(s.addr))
		s.command = append(s.command, more...)
		s.urls = []string{"http://" + s.addr + "/mcp"}
		return nil
	}
}

func launchRemote(l *lab, p *peer, s *setting) error {
	s.command = l.node(p, s.servers[0].url, "--transport", "http-only")
	return nil
}

func port(addr string) string { return addr[strings.LastIndexByte(addr, ':')+1:] }

func writeJSON(file string, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o600)
}
