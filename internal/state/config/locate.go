package config

// serverPaths are where clients keep their servers, the usual place first.
func serverPaths(json bool) [][]string {
	if !json {
		return [][]string{{"mcpServers"}}
	}
	return [][]string{{"mcpServers"}, {"servers"}, {"context_servers"}, {"mcp", "servers"}, {"mcp", "mcpServers"}}
}

// serversPath is where this file keeps its servers; the usual place where it has none.
func serversPath(src *source) []string {
	paths := serverPaths(src.json)
	for _, path := range paths {
		if n := follow(src.root, path); n != nil && n.kind == object {
			return path
		}
	}
	return paths[0]
}

// apisPath is where a file keeps its HTTP APIs.
var apisPath = []string{"apis"}

// sectionOf finds where the file keeps the server, and all that stand there; nil when it has none
// of the name.
func sectionOf(src *source, id string) (section []string, servers *node) {
	for _, section := range [][]string{serversPath(src), apisPath} {
		if servers := follow(src.root, section); servers.find(id) != nil {
			return section, servers
		}
	}
	return nil, nil
}

// serversIn finds the servers of a file, or nil.
func serversIn(src *source) (place, *node) {
	at, n := place{line: 1}, src.root
	for _, key := range serversPath(src) {
		if n = n.find(key); n == nil {
			return at, nil
		}
		at = at.key(key, n.line)
	}
	return at, n
}

func follow(n *node, path []string) *node {
	for _, key := range path {
		n = n.find(key)
	}
	return n
}
