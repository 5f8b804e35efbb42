package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
)

// ErrNoServers is why a file that can be read is no file of MCP servers.
var ErrNoServers = errors.New("has no mcpServers")

// ReadClient reads the servers out of an MCP client's file, for import: values as they
// stand, with ${} not filled in. The notes say what was left out, ignored or renamed.
// VS Code's ${env:VAR} and ${input:name} become ${VAR} and ${NAME}. Names are made valid.
// The servers are looked for where clients keep them, or under the keys, where some are given.
func ReadClient(path string, keys ...string) ([]Server, []string, error) {
	data, err := readFile(path)
	if err != nil {
		return nil, nil, err
	}
	src, found := readClientSource(path, data)
	if len(found) > 0 {
		return nil, nil, found.fault(path)
	}
	at, servers := serversIn(src)
	if len(keys) > 0 {
		at, servers = place{line: 1, field: strings.Join(keys, ".")}, follow(src.root, keys)
	}
	if servers == nil || servers.kind != object {
		return nil, nil, fault.New(fault.BadConfig, "%s %w", path, ErrNoServers).WithHint("name the file in which the client keeps its MCP servers")
	}
	in := &importer{path: path, taken: make(map[string]bool)}
	for _, e := range servers.entries {
		in.add(at, e)
	}
	return in.servers, in.notes, nil
}

// readClientSource reads a client's file of any format. Whatever it is, the keys are a client's.
func readClientSource(path string, data []byte) (*source, problems) {
	if isTOML(path) {
		return readCodex(data)
	}
	src, found := readSource(path, data)
	if src != nil {
		src.json = true
	}
	return src, found
}

// importer collects the servers of a client's file.
type importer struct {
	path    string
	servers []Server
	notes   []string
	taken   map[string]bool
}

func (in *importer) note(format string, args ...any) {
	in.notes = append(in.notes, fmt.Sprintf(format, args...))
}

func (in *importer) add(at place, e entry) {
	d := &decoder{raw: true, client: true}
	s := d.server(at.key(e.key, e.line), e)
	if len(d.problems) > 0 {
		for _, p := range d.problems {
			in.note("%s is left out: %s", e.key, p.in(in.path))
		}
		return
	}
	if len(d.ignored) > 0 {
		in.note("%s: ignored %s", e.key, strings.Join(d.ignored, ", "))
	}
	name := in.free(validName(e.key))
	if name != e.key {
		in.note("%s is named %s here", e.key, name)
	}
	in.taken[name] = true
	s.ID = tool.ServerID(name)
	in.translate(&s)
	if hint := s.WindowsHint(); hint != "" {
		in.note("%s: %s", s.ID, hint)
	}
	in.servers = append(in.servers, s)
}

// translate rewrites VS Code's variables wherever a server may hold them.
func (in *importer) translate(s *Server) {
	for _, v := range []*string{&s.Command, &s.Cwd, &s.URL} {
		*v = in.translated(s.ID, *v)
	}
	s.Args = slices.Clone(s.Args)
	for i := range s.Args {
		s.Args[i] = in.translated(s.ID, s.Args[i])
	}
	for _, m := range []map[string]string{s.Env, s.Headers} {
		for _, e := range mapNode(m).entries { // in order, so that notes are too
			m[e.key] = in.translated(s.ID, m[e.key])
		}
	}
}

func (in *importer) translated(id tool.ServerID, s string) string {
	var out strings.Builder
	for {
		before, rest, ok := strings.Cut(s, "${")
		inside, after, closed := strings.Cut(rest, "}")
		if !ok || !closed {
			out.WriteString(s)
			return out.String()
		}
		switch {
		case strings.HasPrefix(inside, "env:"):
			inside = strings.TrimPrefix(inside, "env:")
		case strings.HasPrefix(inside, "input:"):
			name := inputVariable(inside)
			in.note("%s: ${%s} is ${%s} here; set that environment variable", id, inside, name)
			inside = name
		case isEditorVariable(inside):
			in.note("%s: ${%s} is known to the editor alone; write the path instead", id, inside)
		}
		out.WriteString(before + "${" + inside + "}")
		s = after
	}
}

func isEditorVariable(name string) bool {
	return slices.Contains([]string{"workspaceFolder", "workspaceRoot", "userHome", "cwd", "pathSeparator", "/"}, name) ||
		strings.HasPrefix(name, "workspaceFolder:") || strings.HasPrefix(name, "config:") || strings.HasPrefix(name, "command:")
}

// free is the name, or the name with the first number that nobody has.
func (in *importer) free(name string) string {
	free := name
	for i := 2; in.taken[free]; i++ {
		free = fmt.Sprintf("%s-%d", name, i)
	}
	return free
}

// validName makes a server's name that tool names can be built from.
func validName(name string) string {
	clean := strings.Map(func(r rune) rune {
		if r <= ' ' || r == '/' || r == 0x7f {
			return '-'
		}
		return r
	}, strings.TrimSpace(name))
	for strings.Contains(clean, "__") {
		clean = strings.ReplaceAll(clean, "__", "-")
	}
	if len(clean) > 60 { // room for a number behind it
		clean = strings.ToValidUTF8(clean[:60], "")
	}
	clean = strings.TrimRight(clean, "_")
	if clean == "" {
		return "server"
	}
	return clean
}
