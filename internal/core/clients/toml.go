package clients

import (
	"regexp"
	"strings"

	"github.com/toolfit/toolfit/internal/base/doctree"
)

var tomlStyle = doctree.Style{Key: tomlKey, Text: tomlString, Separator: " = ", Open: "{ ", Close: " }"}

// TOMLTable is a server as the lines of a table.
func TOMLTable(key, id string, server *doctree.Node) []string {
	lines := []string{"[" + key + "." + tomlKey(id) + "]"}
	for _, e := range server.Entries {
		lines = append(lines, tomlKey(e.Key)+" = "+e.Value.Format(tomlStyle))
	}
	return lines
}

var bareKey = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

func tomlKey(s string) string {
	if bareKey.MatchString(s) {
		return s
	}
	return tomlString(s)
}

// tomlString quotes text. TOML reads what JSON escapes, too.
func tomlString(s string) string { return strings.ReplaceAll(doctree.QuoteJSON(s), "\x7f", `\u007F`) }
