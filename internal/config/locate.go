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
