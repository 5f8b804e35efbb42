package clientfile

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/doctree"
	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/state/config"
)

// ErrNoServers says that a readable file is not a file of MCP servers.
var ErrNoServers = errors.New("has no mcpServers")

// Contents are the servers of a client's file.
type Contents struct {
	Keys    []string        // under which the file has them
	Servers []config.Server // values as they are, with ${} not filled in
	Names   []string        // of the servers in the file, where some names are not valid ones
	Notes   []string        // what was left out, ignored or renamed
}

// Read reads the servers out of an MCP client's file, for import. VS Code's ${env:VAR} and
// ${input:name} become ${VAR} and ${NAME}, and names are made valid. The servers are found
// where clients keep them, or under the keys, if any are given.
func Read(path string, keys ...string) (Contents, error) {
	data, err := config.ReadFile(path)
	if err != nil {
		return Contents{}, err
	}
	parse := doctree.ParseYAML
	switch {
	case isTOML(path):
		parse = parseCodex
	case config.IsClientFile(path):
		parse = doctree.ParseJSON
	}
	src, found := parse(data)
	if len(found) > 0 {
		return Contents{}, found.Err(path)
	}
	src.JSON = true // whatever the format, the keys are a client's
	at, servers := config.Servers(src)
	in := &importer{path: path, taken: make(map[string]bool)}
	switch {
	case len(keys) > 0:
		at = doctree.Place{Line: 1, Field: strings.Join(keys, ".")}
		servers = src.Root.Find(keys...)
		in.Keys = keys
	case isTOML(path):
		in.Keys = []string{codexServers}
	default:
		in.Keys = config.ServersPath(src)
	}
	if servers == nil || servers.Kind != doctree.Mapping {
		return Contents{}, fault.New(fault.BadConfig, "%s %w", path, ErrNoServers).
			WithHint("name the file in which the client keeps its MCP servers")
	}
	for _, e := range servers.Entries {
		in.add(at, e)
	}
	return in.Contents, nil
}

// importer collects the servers of a client's file.
type importer struct {
	Contents
	path  string
	taken map[string]bool
}

func (in *importer) note(format string, args ...any) {
	in.Notes = append(in.Notes, fmt.Sprintf(format, args...))
}

func (in *importer) add(at doctree.Place, e doctree.Entry) {
	s, ignored, problems := config.ClientServer(at.Key(e.Key, e.Line), e)
	for _, p := range problems {
		in.note("%s is left out: %s", e.Key, p.In(in.path))
	}
	if len(problems) > 0 {
		return
	}
	if len(ignored) > 0 {
		in.note("%s: ignored %s", e.Key, strings.Join(ignored, ", "))
	}
	name := in.free(validName(e.Key))
	if name != e.Key {
		in.note("%s is named %s here", e.Key, name)
	}
	in.taken[name] = true
	s.ID = tool.ServerID(name)
	in.translate(&s)
	if hint := s.WindowsHint(); hint != "" {
		in.note("%s: %s", s.ID, hint)
	}
	in.Servers = append(in.Servers, s)
	in.Names = append(in.Names, e.Key)
}

// translate rewrites VS Code's variables wherever a server may hold them.
func (in *importer) translate(s *config.Server) {
	for _, v := range []*string{&s.Command, &s.Cwd, &s.URL} {
		*v = in.translated(s.ID, *v)
	}
	s.Args = slices.Clone(s.Args)
	for i := range s.Args {
		s.Args[i] = in.translated(s.ID, s.Args[i])
	}
	for _, m := range []map[string]string{s.Env, s.Headers} {
		for _, key := range slices.Sorted(maps.Keys(m)) { // so that the notes are in order
			m[key] = in.translated(s.ID, m[key])
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
			name := config.InputVariable(inside)
			in.note("%s: ${%s} is ${%s} here; set that environment variable", id, inside, name)
			inside = name
		case isEditorVariable(inside):
			in.note("%s: ${%s} is known only to the editor; write the path instead", id, inside)
		}
		out.WriteString(before + "${" + inside + "}")
		s = after
	}
}

func isEditorVariable(name string) bool {
	return slices.Contains([]string{"workspaceFolder", "workspaceRoot", "userHome", "cwd", "pathSeparator", "/"}, name) ||
		strings.HasPrefix(name, "workspaceFolder:") || strings.HasPrefix(name, "config:") || strings.HasPrefix(name, "command:")
}

// free returns the name, with the first free number if it is taken.
func (in *importer) free(name string) string {
	free := name
	for i := 2; in.taken[free]; i++ {
		free = fmt.Sprintf("%s-%d", name, i)
	}
	return free
}

// validName returns the name as one that tool names can be built from.
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
