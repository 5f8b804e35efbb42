package config

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolfit/toolfit/internal/base/doctree"
	"github.com/toolfit/toolfit/internal/base/fault"
)

// FuzzParse holds that any text gives a configuration or problems, a line each.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		whole, clientFile, "a: [*x, &y z, !!t u]\n<<: {}\n? b\n: c\n", "a:\n\tb", "\ufeff{}", "a: |+\n  x\n\n...\n---\n", "{\"a\": [1, // x\n ]}",
	} {
		f.Add(text, false)
		f.Add(text, true)
	}
	f.Fuzz(func(t *testing.T, text string, json bool) {
		path := "toolfit.yaml"
		if json {
			path = "mcp.json"
		}
		cfg, err := Parse(path, []byte(strings.ReplaceAll(text, "${file:", "${")), variables("A", "alpha"))
		if (cfg == nil) == (err == nil) {
			t.Fatalf("got %v and %v", cfg, err)
		}
		if err == nil {
			return
		}
		if !fault.Is(err, fault.BadConfig) {
			t.Fatalf("got %v", err)
		}
		for _, line := range strings.Split(fault.As(err).Message, "\n") {
			if !strings.HasPrefix(line, path+":") {
				t.Errorf("line %q does not name the file", line)
			}
		}
	})
}

// FuzzEdit holds that an edit that is let through adds one server, or takes one away,
// and leaves the other servers as they were.
func FuzzEdit(f *testing.F) {
	for _, text := range []string{whole, clientFile, header, "mcpServers: {a: {command: x}, }\n", "mcpServers:\n  a:\n    command: x\n# end"} {
		f.Add(text, false, "web", "a b")
		f.Add(text, true, "中", "\"")
	}
	f.Fuzz(func(t *testing.T, text string, json bool, id, arg string) {
		path := "toolfit.yaml"
		if json {
			path = "mcp.json"
		}
		src, found := readSource(path, []byte(text))
		if len(found) > 0 || !utf8.ValidString(id+arg) {
			return
		}
		if _, servers := Servers(src); servers.Find(id) != nil {
			return
		}
		value := encode(Server{Command: "npx", Args: []string{arg}})
		at := append(slices.Clone(ServersPath(src)), id)
		edited, ok := src.Insert(ServersPath(src), id, value)
		if !ok {
			return
		}
		after, err := checkEdit(path, src, edited, at)
		if err != nil {
			return
		}
		_, servers := Servers(after)
		if servers.Find(id) == nil || !doctree.Equal(servers.Find(id), value) {
			return
		}
		before := serverNames(src)
		if got := serverNames(after); got != before+id+"\n" {
			t.Fatalf("servers %q and %q became %q", before, id, got)
		}
		back, ok := after.Remove(servers, id)
		if !ok {
			return
		}
		if again, err := checkEdit(path, after, back, at); err == nil && serverNames(again) != before {
			t.Fatalf("servers %q became %q", before, serverNames(again))
		}
	})
}

func serverNames(src *doctree.Source) string {
	var b strings.Builder
	if _, servers := Servers(src); servers != nil {
		for _, e := range servers.Entries {
			b.WriteString(e.Key + "\n")
		}
	}
	return b.String()
}
