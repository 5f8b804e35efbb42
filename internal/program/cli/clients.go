package cli

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/program/clientfile"
	"github.com/toolfit/toolfit/internal/state/config"
)

// client is a program whose files hold MCP servers.
type client struct {
	name  string
	key   string                 // under which its file holds them
	user  func(folders) []string // files of the user; the first is the one that install writes
	local []string               // files of a project, from its folder

	url      string // the key of an address; "" where its file takes commands alone
	kind     string // what an address has as its type; "" for none
	stdio    string // what a command has as its type; "" for none
	variable string // how it writes the environment variable VAR in a header; "" where it knows none
}

// clients are those whose files we know.
var clients = []client{
	{name: "claude-desktop", key: "mcpServers", user: func(f folders) []string {
		return []string{filepath.Join(f.config, "Claude", "claude_desktop_config.json")}
	}},
	{name: "claude-code", key: "mcpServers", url: "url", kind: "http", stdio: "stdio", variable: "${VAR}", local: []string{".mcp.json"},
		user: func(f folders) []string { return []string{filepath.Join(f.home, ".claude.json")} }},
	{name: "cursor", key: "mcpServers", url: "url", variable: "${env:VAR}", local: []string{".cursor/mcp.json"},
		user: func(f folders) []string { return []string{filepath.Join(f.home, ".cursor", "mcp.json")} }},
	{name: "vscode", key: "servers", url: "url", kind: "http", stdio: "stdio", variable: "${env:VAR}", local: []string{".vscode/mcp.json"},
		user: func(f folders) []string {
			return []string{filepath.Join(f.config, "Code", "User", "mcp.json"), filepath.Join(f.config, "Code", "User", "settings.json")}
		}},
	{name: "windsurf", key: "mcpServers", url: "serverUrl", variable: "${env:VAR}",
		user: func(f folders) []string {
			return []string{filepath.Join(f.home, ".codeium", "windsurf", "mcp_config.json")}
		}},
	{name: "zed", key: "context_servers", url: "url", local: []string{".zed/settings.json"},
		user: func(f folders) []string { return []string{filepath.Join(f.zed, "settings.json")} }},
	{name: "cline", key: "mcpServers", url: "url", kind: "streamableHttp", user: func(f folders) []string {
		const file = "cline_mcp_settings.json"
		return []string{
			filepath.Join(f.config, "Code", "User", "globalStorage", "saoudrizwan.claude-dev", "settings", file),
			filepath.Join(f.home, ".cline", "data", "settings", file),
		}
	}},
	{name: "gemini-cli", key: "mcpServers", url: "httpUrl", variable: "${VAR}", local: []string{".gemini/settings.json"},
		user: func(f folders) []string { return []string{filepath.Join(f.home, ".gemini", "settings.json")} }},
	{name: "codex", key: "mcp_servers", url: "url", variable: "VAR", local: []string{".codex/config.toml"},
		user: func(f folders) []string { return []string{filepath.Join(f.codex, "config.toml")} }},
}

// folders are where programs keep their files.
type folders struct{ home, config, zed, codex string }

// foldersOf are the folders of a user on the system.
func foldersOf(system, home string, lookup func(string) (string, bool)) folders {
	or := func(variable, usual string) string {
		if dir, ok := lookup(variable); ok && filepath.IsAbs(dir) {
			return dir
		}
		return usual
	}
	f := folders{home: home, codex: or("CODEX_HOME", filepath.Join(home, ".codex"))}
	switch system {
	case "darwin":
		f.config, f.zed = filepath.Join(home, "Library", "Application Support"), filepath.Join(home, ".config", "zed")
	case "windows":
		f.config = or("APPDATA", filepath.Join(home, "AppData", "Roaming"))
		f.zed = filepath.Join(f.config, "Zed")
	default:
		f.config = or("XDG_CONFIG_HOME", filepath.Join(home, ".config"))
		f.zed = filepath.Join(f.config, "zed")
	}
	return f
}

// folders are those of the user who runs the command.
func (c *command) folders() folders { return foldersOf(runtime.GOOS, c.env.Home, c.env.Lookup) }

// clientNamed finds a client.
func clientNamed(name string) (client, error) {
	for _, one := range clients {
		if one.name == name {
			return one, nil
		}
	}
	return client{}, usage("%q is no client that toolfit knows; known are %s", name, clientNames())
}

func clientNames() string {
	names := make([]string, len(clients))
	for i, one := range clients {
		names[i] = one.name
	}
	return strings.Join(names, ", ")
}

// holding is a place in a client's file that holds servers.
type holding struct {
	client  string
	path    string
	servers []config.Server
	notes   []string
	err     error // why it cannot be read
}

// holdings finds where the client keeps servers. A place without any is none.
func (c *command) holdings(one client) (found []holding) {
	look := func(path string, keys ...string) {
		if _, err := os.Stat(path); err != nil {
			return
		}
		h := holding{client: one.name, path: path}
		h.servers, h.notes, h.err = clientfile.Read(path, keys...)
		switch {
		case errors.Is(h.err, clientfile.ErrNoServers):
		case h.err == nil && len(h.servers) == 0 && len(h.notes) == 0:
		default:
			found = append(found, h)
		}
	}
	for _, path := range one.user(c.folders()) {
		if filepath.IsAbs(path) { // else the user has no home
			look(path)
		}
	}
	for _, path := range one.local {
		look(filepath.FromSlash(path))
	}
	if one.name == "claude-code" && c.env.Home != "" { // beside those of the user it keeps some for each project
		if dir, err := os.Getwd(); err == nil {
			look(one.user(c.folders())[0], "projects", filepath.ToSlash(dir), "mcpServers")
		}
	}
	return found
}

// entry is our own server in the client's form.
func (one client) entry(target string, keyVariable string) ([]clientfile.Entry, error) {
	if one.url == "" {
		return nil, fault.New(fault.BadRequest, "the file of %s takes commands, not addresses", one.name).WithHint("use --stdio")
	}
	var entries []clientfile.Entry
	if one.kind != "" {
		entries = append(entries, clientfile.Entry{Key: "type", Value: one.kind})
	}
	entries = append(entries, clientfile.Entry{Key: one.url, Value: target})
	switch {
	case keyVariable == "":
		return entries, nil
	case one.variable == "":
		return nil, fault.New(fault.BadRequest, "%s fills no environment variables into headers", one.name).WithHint("use --stdio, which needs no key")
	case one.name == "codex":
		return append(entries, clientfile.Entry{Key: "bearer_token_env_var", Value: keyVariable}), nil
	}
	value := "Bearer " + strings.ReplaceAll(one.variable, "VAR", keyVariable)
	return append(entries, clientfile.Entry{Key: "headers", Value: map[string]string{"Authorization": value}}), nil
}

// command is our own program as a server in the client's form.
func (one client) command(program string, args []string) []clientfile.Entry {
	var entries []clientfile.Entry
	if one.stdio != "" {
		entries = append(entries, clientfile.Entry{Key: "type", Value: one.stdio})
	}
	return append(entries, clientfile.Entry{Key: "command", Value: program}, clientfile.Entry{Key: "args", Value: args})
}
