package access

import (
	"slices"

	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/state/config"
)

// Sees decides whether a profile has a tool. Lists, lookups and calls all use this one decision,
// so what may not be called is never shown.
func Sees(p config.Profile, server tool.ServerID, name tool.Name) bool {
	if !SeesServer(p, server) {
		return false
	}
	matches := func(glob string) bool { return tool.Match(glob, string(name)) }
	if slices.ContainsFunc(p.Deny, matches) {
		return false
	}
	return len(p.Allow) == 0 || slices.ContainsFunc(p.Allow, matches)
}

// SeesServer reports whether a profile has tools of a server.
func SeesServer(p config.Profile, server tool.ServerID) bool {
	return p.All || slices.Contains(p.Servers, server)
}
