package schema

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/toolfit/toolfit/internal/base/tool"
)

// Named is a tool with its server and its original name.
type Named struct {
	Server string
	Tool   string
}

// Names maps a list of tools to the names that models see. The names are valid in every
// dialect and unique.
type Names struct {
	shown []string
	tools map[string]Named
}

// FitNames gives every tool of a list a name that all providers accept. A valid name is kept.
// If two tools would get the same name, both get a hash suffix, so that no name depends on the
// order of the list.
func FitNames(list []Named) *Names {
	wanted := make(map[string]int, len(list))
	for _, n := range list {
		wanted[n.Tool]++
	}
	names := &Names{shown: make([]string, len(list)), tools: make(map[string]Named, len(list))}
	for i, n := range list {
		shown := tool.Shown(n.Tool, tool.ServerID(n.Server), n.Tool)
		if wanted[n.Tool] > 1 {
			shown = marked(shown, n, 0)
		}
		for try := 1; ; try++ {
			if other, taken := names.tools[shown]; !taken || other == n {
				break
			}
			shown = marked(shown, n, try)
		}
		names.shown[i] = shown
		names.tools[shown] = n
	}
	return names
}

// marked appends a hash of the tool to a name.
func marked(shown string, n Named, try int) string {
	sum := sha256.Sum256([]byte(n.Server + "\x00" + n.Tool + "\x00" + itoa(try)))
	return shown[:min(len(shown), 55)] + "_" + hex.EncodeToString(sum[:4])
}

// Shown returns the name of tool i.
func (n *Names) Shown(i int) string { return n.shown[i] }

// Back returns the tool with a shown name.
func (n *Names) Back(shown string) (Named, bool) {
	t, ok := n.tools[shown]
	return t, ok
}
