package config

import (
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/doctree"
	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
)

// Added is a server that was added at run time and is not in the file.
type Added struct {
	Server
	Secrets []string // values to redact everywhere, as in Config
	Secret  bool     // the text contains a secret, not only a ${} for one
}

// ParseServer reads one server from JSON: the keys of an entry of mcpServers, or of apis when it
// has spec, and its name. It is checked like the file. path is the configuration file, to which
// paths are relative; env looks up variables, nil means os.LookupEnv.
func ParseServer(path string, data []byte, env func(string) (string, bool)) (Added, error) {
	root, err := readObject("the server", data)
	if err != nil {
		return Added{}, err
	}
	if env == nil {
		env = os.LookupEnv
	}
	name, n := nameIn(root)
	if name == nil || name.Kind != doctree.Text {
		return Added{}, fault.New(fault.BadConfig, "the server needs one name, as text").
			WithHint(`send {"name": …, "command": …} or {"name": …, "url": …}`)
	}
	id := tool.ServerID(name.Text)
	if err := tool.CheckServerID(id); err != nil {
		return Added{}, err
	}
	d := &decoder{dir: filepath.Dir(path), env: env}
	read := d.server
	if n.Find("spec") != nil {
		read = d.api
	}
	s := read(place{}, entry{Key: name.Text, Value: n})
	if err := d.err("server " + name.Text); err != nil {
		return Added{}, err
	}
	return Added{Server: s, Secrets: d.secrets, Secret: holdsSecret(n)}, nil
}

func readObject(what string, data []byte) (*node, error) {
	src, found := doctree.ParseJSON(data)
	if len(found) > 0 {
		return nil, found.Err(what)
	}
	if src.Root.Kind != doctree.Mapping {
		return nil, fault.New(fault.BadConfig, "%s must be a JSON object, got %s", what, src.Root.Kind)
	}
	return src.Root, nil
}

// nameIn splits the name from the rest of the object; nil unless there is exactly one.
func nameIn(root *node) (name, rest *node) {
	out := *root
	out.Entries = slices.DeleteFunc(slices.Clone(root.Entries), func(e entry) bool { return e.Key == "name" })
	if len(root.Entries)-len(out.Entries) != 1 {
		return nil, &out
	}
	return root.Find("name"), &out
}

// holdsSecret reports whether the text of a server contains a secret. Values of ${} are not part
// of it.
func holdsSecret(n *node) bool {
	for _, key := range []string{"headers", "env"} {
		values := n.Find(key)
		if values == nil {
			continue
		}
		for _, e := range values.Entries {
			if e.Value.Kind == doctree.Text && len(e.Value.Text) >= MinSecret && !refers(e.Value.Text) {
				return true
			}
		}
	}
	if auth := n.Find("auth"); auth != nil && holdsCredential(auth) {
		return true
	}
	if oauth := n.Find("oauth"); oauth != nil {
		for _, key := range []string{"clientSecret", "privateKey"} {
			if secret := oauth.Find(key); secret != nil && holdsCredential(secret) {
				return true
			}
		}
	}
	for _, key := range []string{"url", "proxy", "spec", "base"} {
		address := n.Find(key)
		if address == nil || refers(address.Text) {
			continue
		}
		if u, err := url.Parse(address.Text); err == nil && (u.User != nil || u.RawQuery != "") {
			return true
		}
	}
	return false
}

// holdsCredential reports whether the text contains a credential.
func holdsCredential(n *node) bool {
	if n.Kind == doctree.Text {
		return !refers(n.Text)
	}
	return slices.ContainsFunc(n.Entries, func(e entry) bool { return holdsCredential(e.Value) })
}

// refers reports whether the text contains a ${}.
func refers(s string) bool { return strings.Contains(strings.ReplaceAll(s, "$${", ""), "${") }
