package cli

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/program/clientfile"
)

// client is an MCP client and the form of its configuration file.
type client struct {
	name  string
	key   string   // of the servers in its file
	user  []string // the user's files; install writes the first
	local []string // a project's files, relative to its folder

	url      string // key of an address; "": only commands are supported
	kind     string // type of an address; "": none
	stdio    string // type of a command; "": none
	variable string // form of an environment variable in a header; "": not supported
}

var clients = []client{
	{name: "claude-desktop", key: "mcpServers", user: []string{"$config/Claude/claude_desktop_config.json"}},
	{name: "claude-code", key: "mcpServers", url: "url", kind: "http", stdio: "stdio", variable: "${VAR}",
		local: []string{".mcp.json"}, user: []string{"$home/.claude.json"}},
	{name: "cursor", key: "mcpServers", url: "url", variable: "${env:VAR}",
		local: []string{".cursor/mcp.json"}, user: []string{"$home/.cursor/mcp.json"}},
	{name: "vscode", key: "servers", url: "url", kind: "http", stdio: "stdio", variable: "${env:VAR}",
		local: []string{".vscode/mcp.json"}, user: []string{"$config/Code/User/mcp.json", "$config/Code/User/settings.json"}},
	{name: "windsurf", key: "mcpServers", url: "serverUrl", variable: "${env:VAR}", user: []string{"$home/.codeium/windsurf/mcp_config.json"}},
	{name: "zed", key: "context_servers", url: "url", local: []string{".zed/settings.json"}, user: []string{"$zed/settings.json"}},
	{name: "cline", key: "mcpServers", url: "url", kind: "streamableHttp", user: []string{
		"$config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
		"$home/.cline/data/settings/cline_mcp_settings.json",
	}},
	{name: "gemini-cli", key: "mcpServers", url: "httpUrl", variable: "${VAR}",
		local: []string{".gemini/settings.json"}, user: []string{"$home/.gemini/settings.json"}},
	{name: "codex", key: "mcp_servers", url: "url", variable: "VAR", local: []string{".codex/config.toml"},
		user: []string{"$codex/config.toml"}},
}

type folders map[string]string

// foldersOf are the folders of a user on a system.
func foldersOf(system, home string, lookup func(string) (string, bool)) folders {
	or := func(variable string, usual ...string) string {
		if dir, ok := lookup(variable); ok && filepath.IsAbs(dir) {
			return dir
		}
		return filepath.Join(append([]string{home}, usual...)...)
	}
	f := folders{"home": home, "codex": or("CODEX_HOME", ".codex")}
	switch system {
	case "darwin":
		f["config"] = filepath.Join(home, "Library", "Application Support")
		f["zed"] = filepath.Join(home, ".config", "zed")
	case "windows":
		f["config"] = or("APPDATA", "AppData", "Roaming")
		f["zed"] = filepath.Join(f["config"], "Zed")
	default:
		f["config"] = or("XDG_CONFIG_HOME", ".config")
		f["zed"] = filepath.Join(f["config"], "zed")
	}
	return f
}

func (f folders) files(of client) (paths []string) {
	for _, path := range of.user {
		name, rest, _ := strings.Cut(path, "/")
		paths = append(paths, filepath.Join(f[name[1:]], filepath.FromSlash(rest)))
	}
	return paths
}

func (c *command) folders() folders { return foldersOf(runtime.GOOS, c.env.Home, c.env.Lookup) }

func clientNamed(name string) (client, error) {
	for _, one := range clients {
		if one.name == name {
			return one, nil
		}
	}
	return client{}, usage("unknown client %q; known clients: %s", name, clientNames())
}

func clientNames() string {
	names := make([]string, len(clients))
	for i, one := range clients {
		names[i] = one.name
	}
	return strings.Join(names, ", ")
}

// holding is a place in a client's file with servers.
type holding struct {
	client  string
	path    string
	project bool // it belongs to the project in this folder
	clientfile.Contents
	err error // why it cannot be read
}

// holdings finds the places where a client has servers.
func (c *command) holdings(one client) (found []holding) {
	look := func(path string, project bool, keys ...string) {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return
		}
		h := holding{client: one.name, path: path, project: project}
		h.Contents, h.err = clientfile.Read(path, keys...)
		switch {
		case errors.Is(h.err, clientfile.ErrNoServers):
		case h.err == nil && len(h.Servers) == 0 && len(h.Notes) == 0:
		default:
			found = append(found, h)
		}
	}
	for _, path := range c.folders().files(one) {
		if filepath.IsAbs(path) { // relative without a home folder
			look(path, false)
		}
	}
	for _, path := range one.local {
		look(filepath.FromSlash(path), true)
	}
	if one.name == "claude-code" && c.env.Home != "" { // its user file also has servers per project
		if dir, err := os.Getwd(); err == nil {
			look(c.folders().files(one)[0], true, "projects", filepath.ToSlash(dir), "mcpServers")
		}
	}
	return found
}

// entry is a gateway by URL in the client's form.
func (one client) entry(target string, keyVariable string) ([]clientfile.Entry, error) {
	if one.url == "" {
		return nil, fault.New(fault.BadRequest, "the file of %s supports commands only, not URLs", one.name).WithHint("use --stdio")
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
		return nil, fault.New(fault.BadRequest, "%s does not support environment variables in headers", one.name).
			WithHint("use --stdio, which needs no key")
	case one.name == "codex":
		return append(entries, clientfile.Entry{Key: "bearer_token_env_var", Value: keyVariable}), nil
	}
	value := "Bearer " + strings.ReplaceAll(one.variable, "VAR", keyVariable)
	return append(entries, clientfile.Entry{Key: "headers", Value: map[string]string{"Authorization": value}}), nil
}

// command is this program as a server in the client's form.
func (one client) command(program string, args []string) []clientfile.Entry {
	var entries []clientfile.Entry
	if one.stdio != "" {
		entries = append(entries, clientfile.Entry{Key: "type", Value: one.stdio})
	}
	return append(entries, clientfile.Entry{Key: "command", Value: program}, clientfile.Entry{Key: "args", Value: args})
}
