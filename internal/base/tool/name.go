package tool

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/toolfit/toolfit/internal/base/fault"
)

// ServerID names an upstream server, as written in the configuration.
type ServerID string

// Name is a tool's canonical name: the server's id, two underscores, and the
// name that the server itself gave the tool. Rules, allow and deny match it.
type Name string

// maxShown is the length that every provider accepts.
const maxShown = 64

// Canonical joins a server's id and its tool's raw name.
func Canonical(server ServerID, raw string) Name {
	return Name(string(server) + "__" + raw)
}

// Split takes a canonical name apart again. Server ids hold no "__", so the first one divides.
func (n Name) Split() (ServerID, string, bool) {
	server, raw, ok := strings.Cut(string(n), "__")
	return ServerID(server), raw, ok
}

// CheckServerID refuses ids that could not be told apart in a tool's name.
func CheckServerID(id ServerID) error {
	switch {
	case id == "":
		return fault.New(fault.BadConfig, "a server needs a name")
	case len(id) > maxShown:
		return fault.New(fault.BadConfig, "server name %q is longer than %d characters", id, maxShown)
	case strings.Contains(string(id), "__"), strings.HasSuffix(string(id), "_"):
		return fault.New(fault.BadConfig, "server name %q may not contain \"__\" or end in \"_\": tool names are server__tool", id)
	}
	for _, r := range id {
		if r <= ' ' || r == '/' || r == 0x7f {
			return fault.New(fault.BadConfig, "server name %q may not contain %q", id, r)
		}
	}
	return nil
}

// Shown makes the name that models see from the wanted one. A wanted name that every
// provider accepts stays as it is; any other is cleaned, cut, and marked with a hash of
// server and raw name, so that it is stable whatever other tools exist.
func Shown(wanted string, server ServerID, raw string) string {
	if fits(wanted) {
		return wanted
	}
	var b strings.Builder
	squeezed := false
	for _, r := range wanted {
		if isWord(r) {
			b.WriteRune(r)
			squeezed = false
			continue
		}
		if !squeezed {
			b.WriteByte('_')
		}
		squeezed = true
	}
	clean := b.String()
	if clean == "" || !isFirst(rune(clean[0])) {
		clean = "_" + clean
	}
	sum := sha256.Sum256([]byte(string(server) + "\x00" + raw))
	const keep = maxShown - 9
	if len(clean) > keep {
		clean = clean[:keep]
	}
	return fmt.Sprintf("%s_%s", clean, hex.EncodeToString(sum[:4]))
}

// fits tells whether every provider accepts the name as it is.
func fits(name string) bool {
	if name == "" || len(name) > maxShown || !isFirst(rune(name[0])) {
		return false
	}
	for _, r := range name {
		if !isWord(r) {
			return false
		}
	}
	return true
}

func isFirst(r rune) bool {
	return r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}

func isWord(r rune) bool {
	return isFirst(r) || r == '-' || r >= '0' && r <= '9'
}
