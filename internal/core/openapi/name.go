package openapi

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
)

// maxName is the length that every provider accepts.
const maxName = 64

// nameAll names the tools by operationId, else by method and path, with only the characters
// that every provider accepts. A valid name is kept. Names that would collide all get a hash
// of method and path, so that they do not depend on other operations.
func (d *Document) nameAll(bad *problems) {
	exact := map[string]int{}
	cleaned := map[string]int{}
	for _, e := range d.entries {
		e.name = clean(e.wanted())
		if e.name == e.id {
			exact[e.name]++
		} else {
			cleaned[e.name]++
		}
	}
	taken := make(map[string]bool, len(d.entries))
	for _, e := range d.entries {
		own := e.name == e.id
		if own && exact[e.name] > 1 {
			bad.add(e.at.pointer+"/operationId", "is not unique; a hash tells the tools apart")
		}
		alone := own && exact[e.name] == 1 || !own && cleaned[e.name] == 1 && exact[e.name] == 0
		if !alone || len(e.name) > maxName {
			e.name = e.hashed()
		}
		base := e.name
		for i := 2; taken[e.name]; i++ { // an operationId that looks like another's hash
			number := "_" + strconv.Itoa(i)
			e.name = base[:min(len(base), maxName-len(number))] + number
		}
		taken[e.name] = true
	}
}

// wanted is the name before cleaning.
func (e *entry) wanted() string {
	if e.id != "" {
		return e.id
	}
	path, _, _ := strings.Cut(e.path, "?")
	return strings.ToLower(e.method) + "_" + path
}

// hashed is the name, truncated if necessary, with a hash suffix.
func (e *entry) hashed() string {
	sum := sha256.Sum256([]byte(e.method + "\x00" + e.path))
	const keep = maxName - 9
	return strings.TrimRight(e.name[:min(len(e.name), keep)], "_") + "_" + hex.EncodeToString(sum[:4])
}

// clean replaces every run of characters that some provider refuses by one underscore.
func clean(s string) string {
	var b strings.Builder
	gap := false
	for _, r := range s {
		switch {
		case r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z':
			if gap && b.Len() > 0 && !strings.HasSuffix(b.String(), "_") && r != '_' {
				b.WriteByte('_')
			}
			gap = false
			b.WriteRune(r)
		default:
			gap = true
		}
	}
	out := b.String()
	if out == "" || out[0] == '-' || out[0] >= '0' && out[0] <= '9' {
		out = "_" + out
	}
	return out
}
