package schema

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/toolfit/toolfit/internal/base/tool"
)

// Named is a tool by its server and the server's own name for it.
type Named struct {
	Server string
	Tool   string
}

// Names is one list of tools with the names that models see. The names fit every
// dialect, and each leads back to exactly one tool.
type Names struct {
	shown []string
	tools map[string]Named
}

// FitNames gives every tool of a list a name that all providers accept. A name that fits
// stays as it is; where two tools want the same one, both are marked with a hash of their
// own, so that neither's name depends on the other's place in the list.
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

// marked ends a name with a hash of the tool.
func marked(shown string, n Named, try int) string {
	sum := sha256.Sum256([]byte(n.Server + "\x00" + n.Tool + "\x00" + itoa(try)))
	return shown[:min(len(shown), 55)] + "_" + hex.EncodeToString(sum[:4])
}

// Shown is the name of the tool at place i of the list.
func (n *Names) Shown(i int) string { return n.shown[i] }

// Back is the tool that a shown name means.
func (n *Names) Back(shown string) (Named, bool) {
	t, ok := n.tools[shown]
	return t, ok
}
