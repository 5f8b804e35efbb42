// Package clients knows MCP clients: where each keeps its servers, how it writes one, and what a
// person has to paste, run or click so that it uses a gateway. It never reads a file.
//
//	for _, g := range clients.Guides(clients.Gateway{Base: "https://tools.example.com", Profile: "work", Variable: "TOOLFIT_KEY"}) {
//		fmt.Println(g.Title, g.Link, g.Steps[0].Text)
//	}
package clients

import (
	"fmt"
	"strings"

	"github.com/toolfit/toolfit/internal/base/doctree"
	"github.com/toolfit/toolfit/internal/base/fault"
)

// Own is the name of the gateway in the files of clients.
const Own = "toolfit"

// Client is an MCP client and the form of its configuration file.
type Client struct {
	Name  string   // for commands
	Title string   // as its makers write it
	Key   string   // of the servers in its file
	User  []string // the user's files, each below a folder such as $home; the first is the usual one
	Local []string // a project's files, relative to its folder

	url      string // key of an address; "": only commands are supported
	kind     string // type of an address; "": none
	stdio    string // type of a command; "": none
	variable string // form of an environment variable in a header; "": not supported
}

// WithFiles are the clients whose files can be read and changed.
func WithFiles() []Client {
	return []Client{
		{Name: "claude-desktop", Title: "Claude Desktop", Key: "mcpServers", User: []string{"$config/Claude/claude_desktop_config.json"}},
		{Name: "claude-code", Title: "Claude Code", Key: "mcpServers", url: "url", kind: "http", stdio: "stdio", variable: "${VAR}",
			Local: []string{".mcp.json"}, User: []string{"$home/.claude.json"}},
		{Name: "cursor", Title: "Cursor", Key: "mcpServers", url: "url", variable: "${env:VAR}",
			Local: []string{".cursor/mcp.json"}, User: []string{"$home/.cursor/mcp.json"}},
		{Name: "vscode", Title: "VS Code", Key: "servers", url: "url", kind: "http", stdio: "stdio", variable: "${env:VAR}",
			Local: []string{".vscode/mcp.json"}, User: []string{"$config/Code/User/mcp.json", "$config/Code/User/settings.json"}},
		{Name: "windsurf", Title: "Windsurf", Key: "mcpServers", url: "serverUrl", variable: "${env:VAR}",
			User: []string{"$home/.codeium/windsurf/mcp_config.json"}},
		{Name: "zed", Title: "Zed", Key: "context_servers", url: "url", Local: []string{".zed/settings.json"}, User: []string{"$zed/settings.json"}},
		{Name: "cline", Title: "Cline", Key: "mcpServers", url: "url", kind: "streamableHttp", User: []string{
			"$config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
			"$home/.cline/data/settings/cline_mcp_settings.json",
		}},
		{Name: "gemini-cli", Title: "Gemini CLI", Key: "mcpServers", url: "httpUrl", variable: "${VAR}",
			Local: []string{".gemini/settings.json"}, User: []string{"$home/.gemini/settings.json"}},
		{Name: "codex", Title: "Codex CLI", Key: "mcp_servers", url: "url", variable: "VAR", Local: []string{".codex/config.toml"},
			User: []string{"$codex/config.toml"}},
	}
}

// TakesURL reports whether the client's file supports addresses, not only commands.
func (c Client) TakesURL() bool { return c.url != "" }

// Entry is one key of a server in a client's own form. The value is a string, a []string or a
// map[string]string.
type Entry struct {
	Key   string
	Value any
}

// Address is a gateway by URL in the client's form, with the environment variable that holds the key; "": none is needed.
func (c Client) Address(target, keyVariable string) ([]Entry, error) {
	if c.url == "" {
		return nil, fault.New(fault.BadRequest, "the file of %s supports commands only, not URLs", c.Name).WithHint("use --stdio")
	}
	if keyVariable != "" && c.variable == "" {
		return nil, fault.New(fault.BadRequest, "%s does not support environment variables in headers", c.Name).
			WithHint("use --stdio, which needs no key")
	}
	return c.address(target, keyVariable, ""), nil
}

// address is a gateway by URL, with the variable that holds the key or, where it is known, its text.
func (c Client) address(target, keyVariable, keyText string) []Entry {
	var entries []Entry
	if c.kind != "" {
		entries = append(entries, Entry{"type", c.kind})
	}
	entries = append(entries, Entry{c.url, target})
	switch {
	case keyVariable == "":
		return entries
	case c.variable == "VAR":
		return append(entries, Entry{"bearer_token_env_var", keyVariable})
	case keyText == "":
		keyText = strings.ReplaceAll(c.variable, "VAR", keyVariable)
	}
	return append(entries, Entry{"headers", map[string]string{"Authorization": "Bearer " + keyText}})
}

// Command is a program as a server in the client's form.
func (c Client) Command(program string, args []string) []Entry {
	var entries []Entry
	if c.stdio != "" {
		entries = append(entries, Entry{"type", c.stdio})
	}
	return append(entries, Entry{"command", program}, Entry{"args", args})
}

// file is a client's file that has nothing but the server.
func (c Client) file(entries []Entry) string {
	if c.Key == "mcp_servers" {
		return strings.Join(TOMLTable(c.Key, Own, Node(entries)), "\n") + "\n"
	}
	src, _ := doctree.ParseJSON(nil) // an empty text has no problem
	text, _ := src.Insert([]string{c.Key}, Own, Node(entries))
	return text
}

// Node is a server as a tree.
func Node(entries []Entry) *doctree.Node {
	n := &doctree.Node{Kind: doctree.Mapping}
	for _, e := range entries {
		switch v := e.Value.(type) {
		case []string:
			n.Add(e.Key, doctree.NewList(v))
		case map[string]string:
			n.Add(e.Key, doctree.NewMap(v))
		default:
			n.Add(e.Key, doctree.NewText(fmt.Sprint(v)))
		}
	}
	return n
}
