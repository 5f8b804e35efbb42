package config

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

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
		if _, servers := serversIn(src); servers.find(id) != nil {
			return
		}
		value := encode(Server{Command: "npx", Args: []string{arg}})
		at := append(slices.Clone(serversPath(src)), id)
		edited, ok := addTextAt(src, serversPath(src), id, value)
		if !ok {
			return
		}
		after, err := checkEdit(path, src, edited, at)
		if err != nil {
			return
		}
		_, servers := serversIn(after)
		if servers.find(id) == nil || !equal(servers.find(id), value) {
			return
		}
		before := serverNames(src)
		if got := serverNames(after); got != before+id+"\n" {
			t.Fatalf("servers %q and %q became %q", before, id, got)
		}
		back, ok := removeText(after, servers, id)
		if !ok {
			return
		}
		if again, err := checkEdit(path, after, back, at); err == nil && serverNames(again) != before {
			t.Fatalf("servers %q became %q", before, serverNames(again))
		}
	})
}

func serverNames(src *source) string {
	var b strings.Builder
	if _, servers := serversIn(src); servers != nil {
		for _, e := range servers.entries {
			b.WriteString(e.key + "\n")
		}
	}
	return b.String()
}

// FuzzBytes holds that an edit reaches the file as it was meant, and that the rest keeps its bytes.
func FuzzBytes(f *testing.F) {
	f.Add("a\r\nb\nc\rd", uint(2), uint(1), "x\ny")
	f.Add(bom+"a\r\n\r\n", uint(0), uint(9), "\n")
	f.Fuzz(func(t *testing.T, raw string, at, length uint, added string) {
		src, found := readText([]byte(raw))
		if len(found) > 0 || strings.ContainsRune(added, '\r') || !utf8.ValidString(added) {
			return
		}
		if got := string(src.bytes(src.text)); got != raw {
			t.Fatalf("without an edit %q became %q", raw, got)
		}
		from := min(int(at%1000), len(src.text))
		to := min(from+int(length%1000), len(src.text))
		edited := src.text[:from] + added + src.text[to:]
		got := src.bytes(edited)
		if again, found := readText(got); len(found) == 0 && !lonelyCR(raw) && again.text != edited {
			t.Fatalf("%q with %q became %q", raw, edited, got)
		}
	})
}

// lonelyCR tells whether a text has a \r without \n, which an edit behind it can make a pair.
func lonelyCR(s string) bool { return strings.Contains(strings.ReplaceAll(s, "\r\n", ""), "\r") }
