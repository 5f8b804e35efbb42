package tool

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"

	"github.com/toolfit/toolfit/internal/base/fault"
)

// ServerID names an upstream server, as written in the configuration.
type ServerID string

// Name is a tool's canonical name: the server's id, "__", and the server's own name for the tool.
// Rules, allow and deny match it.
type Name string

// Recipes is the server whose tools are scripts that people saved. No other may have its name.
const Recipes ServerID = "recipes"

// maxShown is the longest name that every provider accepts.
const maxShown = 64

// Canonical joins a server's id and its tool's raw name.
func Canonical(server ServerID, raw string) Name {
	return Name(string(server) + "__" + raw)
}

// Split returns the parts of a canonical name. Server ids contain no "__".
func (n Name) Split() (ServerID, string, bool) {
	server, raw, ok := strings.Cut(string(n), "__")
	return ServerID(server), raw, ok
}

// CheckServerID refuses ids that are reserved, or would be ambiguous in a tool's name.
func CheckServerID(id ServerID) error {
	switch {
	case id == "":
		return fault.New(fault.BadConfig, "a server needs a name")
	case id == Recipes:
		return fault.New(fault.BadConfig, "the server name %q is reserved for recipes, which are scripts saved as tools", id)
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

// Shown returns the name that models see. A wanted name that every provider accepts is not
// changed; any other is cleaned, truncated, and gets a hash of server and raw name, so that it
// does not depend on other tools.
func Shown(wanted string, server ServerID, raw string) string {
	if fits(wanted) {
		return wanted
	}
	clean := otherRun.ReplaceAllString(wanted, "_")
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

var otherRun = regexp.MustCompile(`[^A-Za-z0-9_-]+`)

// fits reports whether every provider accepts the name.
func fits(name string) bool {
	return name != "" && len(name) <= maxShown && isFirst(rune(name[0])) && !otherRun.MatchString(name)
}

func isFirst(r rune) bool {
	return r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}
