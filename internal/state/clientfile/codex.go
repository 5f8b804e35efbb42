package clientfile

import (
	"strings"

	"github.com/toolfit/toolfit/internal/base/doctree"
)

// codexServers is the key under which Codex keeps its servers.
const codexServers = "mcp_servers"

// parseCodex reads the configuration file of Codex as if it were that of another client:
// mcp_servers becomes mcpServers, and each server's keys those that others use.
func parseCodex(data []byte) (*doctree.Source, doctree.Problems) {
	src, found := doctree.NewSource(data)
	if src == nil {
		return nil, found
	}
	root, _, found := readTOML(src.Text)
	if root == nil {
		return nil, found
	}
	src.Root = &doctree.Node{Kind: doctree.Mapping, Line: 1}
	if servers := root.Find(codexServers); servers != nil {
		for i, e := range servers.Entries {
			servers.Entries[i].Value = fromCodex(e.Value)
		}
		src.Root.Entries = []doctree.Entry{{Key: "mcpServers", Line: servers.Line, Value: servers}}
	}
	return src, nil
}

// fromCodex returns a server of Codex with the keys of other clients.
func fromCodex(server *doctree.Node) *doctree.Node {
	if server.Kind != doctree.Mapping {
		return server
	}
	out := &doctree.Node{Kind: doctree.Mapping, Line: server.Line}
	headers := &doctree.Node{Kind: doctree.Mapping, Line: server.Line}
	put := func(e doctree.Entry, to *doctree.Node, key string, value *doctree.Node) {
		value.Line = e.Line
		to.Entries = append(to.Entries, doctree.Entry{Key: key, Line: e.Line, Value: value})
	}
	for _, e := range server.Entries {
		switch v := e.Value; e.Key {
		case "http_headers":
			headers.Entries = append(headers.Entries, v.Entries...)
		case "env_http_headers":
			for _, h := range v.Entries {
				put(h, headers, h.Key, doctree.NewText("${"+h.Value.Text+"}"))
			}
		case "bearer_token_env_var":
			put(e, headers, "Authorization", doctree.NewText("Bearer ${"+v.Text+"}"))
		case "env_vars":
			var names []string
			for _, name := range v.Items {
				if name.Kind == doctree.Text { // else it says where the variable comes from
					names = append(names, name.Text)
				}
			}
			put(e, out, "inherit", doctree.NewList(names))
		case "startup_timeout_sec":
			put(e, out, "start", doctree.NewText(seconds(v.Text)))
		case "tool_timeout_sec":
			put(e, out, "timeout", doctree.NewText(seconds(v.Text)))
		case "enabled":
			put(e, out, "disabled", doctree.NewBool(v.Text == "false"))
		default:
			out.Entries = append(out.Entries, e)
		}
	}
	if len(headers.Entries) > 0 {
		out.Entries = append(out.Entries, doctree.Entry{Key: "headers", Line: headers.Line, Value: headers})
	}
	return out
}

// seconds returns a number of seconds as a duration; 20, 20.0 and 1_000 are in use.
func seconds(n string) string {
	n = strings.ReplaceAll(n, "_", "")
	if whole, zeros, ok := strings.Cut(n, "."); ok && strings.Trim(zeros, "0") == "" {
		n = whole
	}
	return n + "s"
}
