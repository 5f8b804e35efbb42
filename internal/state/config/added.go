package config

import (
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
)

// Added is a server that was added while running and is not in the file.
type Added struct {
	Server
	Secrets []string // values to redact everywhere, as in Config
	Secret  bool     // the text itself holds a secret, not only a ${} that leads to one
}

// ParseServer reads one server from JSON: the keys of an entry of mcpServers, or of apis when
// it has spec, and its name.
// It is checked by the rules of the file. path is the configuration file, at whose folder
// relative paths start; env looks up variables, nil means os.LookupEnv.
func ParseServer(path string, data []byte, env func(string) (string, bool)) (Added, error) {
	root, err := readObject("the server", data)
	if err != nil {
		return Added{}, err
	}
	if env == nil {
		env = os.LookupEnv
	}
	name, n := nameIn(root)
	if name == nil || name.kind != text {
		return Added{}, fault.New(fault.BadConfig, "the server needs one name, as text").WithHint(`send {"name": …, "command": …} or {"name": …, "url": …}`)
	}
	id := tool.ServerID(name.text)
	if err := tool.CheckServerID(id); err != nil {
		return Added{}, err
	}
	d := &decoder{dir: filepath.Dir(path), env: env}
	read := d.server
	if n.find("spec") != nil {
		read = d.api
	}
	s := read(place{}, entry{key: name.text, value: n})
	if len(d.problems) > 0 {
		return Added{}, d.problems.unplaced().fault("server " + name.text)
	}
	return Added{Server: s, Secrets: d.secrets, Secret: holdsSecret(n)}, nil
}

func readObject(what string, data []byte) (*node, error) {
	src, found := readText(data)
	if src == nil {
		return nil, found.fault(what)
	}
	root, found := readJSON(src.text)
	if len(found) > 0 {
		return nil, found.fault(what)
	}
	if root.kind != object {
		return nil, fault.New(fault.BadConfig, "%s must be a JSON object, got %s", what, root.kind)
	}
	return root, nil
}

// nameIn takes the name out of the object; nil when there is not exactly one.
func nameIn(root *node) (name, rest *node) {
	out := *root
	out.entries = slices.DeleteFunc(slices.Clone(root.entries), func(e entry) bool { return e.key == "name" })
	if len(root.entries)-len(out.entries) != 1 {
		return nil, &out
	}
	return root.find("name"), &out
}

// holdsSecret tells whether the text of a server must not lie about in the open. What a
// ${} leads to is not in the text.
func holdsSecret(n *node) bool {
	for _, key := range []string{"headers", "env"} {
		values := n.find(key)
		if values == nil {
			continue
		}
		for _, e := range values.entries {
			if e.value.kind == text && len(e.value.text) >= MinSecret && !refers(e.value.text) {
				return true
			}
		}
	}
	if auth := n.find("auth"); auth != nil && holdsCredential(auth) {
		return true
	}
	for _, key := range []string{"url", "proxy", "spec", "base"} {
		address := n.find(key)
		if address == nil || refers(address.text) {
			continue
		}
		if u, err := url.Parse(address.text); err == nil && (u.User != nil || u.RawQuery != "") {
			return true
		}
	}
	return false
}

// holdsCredential tells whether a credential stands in the text itself.
func holdsCredential(n *node) bool {
	if n.kind == text {
		return !refers(n.text)
	}
	return slices.ContainsFunc(n.entries, func(e entry) bool { return holdsCredential(e.value) })
}

// refers tells whether some of the text is filled in from elsewhere.
func refers(s string) bool { return strings.Contains(strings.ReplaceAll(s, "$${", ""), "${") }
