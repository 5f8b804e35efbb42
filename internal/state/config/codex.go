package config

import (
	"slices"
	"strings"
)

// codexServers is the key under which Codex keeps its servers.
const codexServers = "mcp_servers"

// readCodex reads the configuration file of Codex as if it were that of another client:
// mcp_servers becomes mcpServers, and each server's keys those that others use.
func readCodex(data []byte) (*source, problems) {
	src, found := readText(data)
	if src == nil {
		return nil, found
	}
	root, _, found := readTOML(src.text)
	if root == nil {
		return nil, found
	}
	src.json, src.root = true, &node{kind: object, line: 1}
	if servers := root.find(codexServers); servers != nil {
		common := *servers
		common.entries = slices.Clone(servers.entries)
		for i, e := range common.entries {
			common.entries[i].value = fromCodex(e.value)
		}
		src.root.entries = []entry{{key: "mcpServers", line: servers.line, value: &common}}
	}
	return src, nil
}

// fromCodex is a server of Codex with the keys of other clients.
func fromCodex(server *node) *node {
	if server.kind != object {
		return server
	}
	out := &node{kind: object, line: server.line}
	headers := &node{kind: object, line: server.line}
	put := func(e entry, key string, value *node) {
		value.line = e.line
		out.entries = append(out.entries, entry{key: key, line: e.line, value: value})
	}
	header := func(e entry, name, value string) {
		headers.entries = append(headers.entries, entry{key: name, line: e.line, value: textNode(value)})
	}
	for _, e := range server.entries {
		switch v := e.value; e.key {
		case "http_headers":
			headers.entries = append(headers.entries, v.entries...)
		case "env_http_headers":
			for _, h := range v.entries {
				header(h, h.key, "${"+h.value.text+"}")
			}
		case "bearer_token_env_var":
			header(e, "Authorization", "Bearer ${"+v.text+"}")
		case "env_vars":
			names := &node{kind: list}
			for _, name := range v.items {
				if name.kind == text { // else it says where the variable comes from, which is not here
					names.items = append(names.items, name)
				}
			}
			put(e, "inherit", names)
		case "startup_timeout_sec":
			put(e, "start", textNode(seconds(v.text)))
		case "tool_timeout_sec":
			put(e, "timeout", textNode(seconds(v.text)))
		case "enabled":
			off := "false"
			if v.text == "false" {
				off = "true"
			}
			put(e, "disabled", &node{kind: boolean, text: off})
		default:
			out.entries = append(out.entries, e)
		}
	}
	if len(headers.entries) > 0 {
		out.entries = append(out.entries, entry{key: "headers", line: headers.line, value: headers})
	}
	return out
}

// seconds is a number of seconds as a duration: 20, 20.0 and 1_000 are about.
func seconds(n string) string {
	n = strings.ReplaceAll(n, "_", "")
	if whole, zeros, ok := strings.Cut(n, "."); ok && strings.Trim(zeros, "0") == "" {
		n = whole
	}
	return n + "s"
}
