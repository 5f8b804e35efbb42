package config

import (
	"path/filepath"
	"strings"

	"github.com/toolfit/toolfit/internal/base/doctree"
	"github.com/toolfit/toolfit/internal/base/sandbox"
)

// readSandbox reads what a server's program can use.
func (s *Server) readSandbox(d *decoder, at place, n *node) {
	s.Sandbox = &sandbox.Rules{Net: true}
	d.object(at, n, []field{
		{"preset", oneOf(&s.Sandbox.Preset, sandbox.Presets...)},
		{"read", pathsInto(&s.Sandbox.Read)},
		{"write", pathsInto(&s.Sandbox.Write)},
		{"net", boolInto(&s.Sandbox.Net)},
	})
}

// pathsInto reads paths that start at the file's folder, at the root, or with ~ at the home.
func pathsInto(dst *[]string) reader {
	return func(d *decoder, at place, n *node) {
		d.items(at, n, func(inner place, item *node) {
			path, ok := d.checked(inner, item, checkFilled)
			if !ok {
				return
			}
			if !d.raw {
				path, ok = d.atHome(inner, path)
				if !ok {
					return
				}
				path = joined(d.dir, path)
			}
			*dst = append(*dst, path)
		})
	}
}

// atHome returns a path with the home folder in place of ~.
func (d *decoder) atHome(at place, path string) (string, bool) {
	rest, ok := strings.CutPrefix(path, "~")
	if !ok || rest != "" && rest[0] != '/' {
		return path, true
	}
	home, _ := d.env("HOME")
	if home == "" {
		d.fail(at, "starts with ~, and the environment variable HOME is not set; write the whole path")
		return "", false
	}
	return filepath.Join(home, rest), true
}

// encodeSandbox returns it as the file has it.
func encodeSandbox(r *sandbox.Rules) *node {
	f := newEntry()
	f.text("preset", r.Preset)
	f.texts("read", r.Read)
	f.texts("write", r.Write)
	if !r.Net {
		f.Add("net", doctree.NewBool(false))
	}
	return f.node
}
