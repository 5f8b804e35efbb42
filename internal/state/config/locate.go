package config

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/doctree"
)

// clientPaths are where clients keep their servers, the usual place first.
var clientPaths = [][]string{{"mcpServers"}, {"servers"}, {"context_servers"}, {"mcp", "servers"}, {"mcp", "mcpServers"}}

// apisPath is where a file keeps its HTTP APIs.
var apisPath = []string{"apis"}

// IsClientFile reports whether a file is read as one of an MCP client, by its name.
func IsClientFile(path string) bool {
	return slices.Contains([]string{".json", ".jsonc"}, strings.ToLower(filepath.Ext(path)))
}

// readSource parses a configuration file. Without a tree the source is nil.
func readSource(path string, data []byte) (*doctree.Source, doctree.Problems) {
	if IsClientFile(path) {
		return doctree.ParseJSON(data)
	}
	return doctree.ParseYAML(data)
}

// ServersPath is where this file keeps its servers; the usual place where it has none.
func ServersPath(src *doctree.Source) []string {
	if src.JSON {
		for _, path := range clientPaths {
			if n := src.Root.Find(path...); n != nil && n.Kind == doctree.Mapping {
				return path
			}
		}
	}
	return clientPaths[0]
}

// sectionOf finds the section of the file that has the server; nil when none has.
func sectionOf(src *doctree.Source, id string) (section []string, servers *node) {
	for _, section := range [][]string{ServersPath(src), apisPath} {
		if servers := src.Root.Find(section...); servers.Find(id) != nil {
			return section, servers
		}
	}
	return nil, nil
}

// Servers finds the servers of a file and their place; nil when it has none.
func Servers(src *doctree.Source) (place, *node) {
	at := place{Line: 1}
	n := src.Root
	for _, key := range ServersPath(src) {
		n = n.Find(key)
		if n == nil {
			return at, nil
		}
		at = at.Key(key, n.Line)
	}
	return at, n
}
