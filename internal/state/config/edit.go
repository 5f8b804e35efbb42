package config

import (
	"errors"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/doctree"
	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/regular"
	"github.com/toolfit/toolfit/internal/base/tool"
)

// header opens a file that AddServer makes.
const header = namesSchema + `# Configuration of toolfit. Each server below is reached through one gateway.
# ${VAR} is filled in from the environment, ${file:PATH} from a file.
`

// AddServer writes a server into the file at path and leaves all else as it is. The values are
// written as given: "${VAR}" stays "${VAR}". A missing file is created; a file with a secret in
// its text is readable by its owner only. A name that exists is a fault.Conflict; a server that
// would not load is not written.
func AddServer(path string, s Server) error {
	old, err := ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	text, err := WithServer(path, old, s)
	if err != nil {
		return err
	}
	if err := regular.Replace(path, old, text, s.Mask()); err != nil {
		return err
	}
	WriteSchema(path, text)
	return nil
}

// Mask is what may remain of a file's mode when the server is written into it.
func (s *Server) Mask() fs.FileMode {
	if s.hasSecret() {
		return 0o600
	}
	return 0o777
}

// WithServer returns what AddServer writes, for a file at path that has the text; nil for a
// missing one.
func WithServer(path string, text []byte, s Server) ([]byte, error) {
	if err := tool.CheckServerID(s.ID); err != nil {
		return nil, err
	}
	if text == nil && !IsClientFile(path) {
		text = []byte(header)
	}
	src, found := readSource(path, text)
	if len(found) > 0 {
		return nil, found.Err(path)
	}
	id := string(s.ID)
	value := encode(s)
	section := ServersPath(src)
	if s.API != nil {
		section = apisPath
	}
	if _, there := sectionOf(src, id); there != nil {
		return nil, fault.New(fault.Conflict, "%s has a server %q already", path, id).WithHint("remove it first, or choose another name")
	}
	edited, ok := src.Insert(section, id, value)
	if !ok {
		return nil, doctree.CannotEdit(path, "add", id)
	}
	after, err := checkEdit(path, src, edited, append(slices.Clone(section), id))
	if err != nil {
		return nil, err
	}
	if _, servers := sectionOf(after, id); servers == nil || !doctree.Equal(servers.Find(id), value) {
		return nil, doctree.CannotEdit(path, "add", id)
	}
	return src.Bytes(edited), nil
}

// RemoveServer takes a server out of the file at path and leaves all else, including the
// comments around it. A name that is not there is a fault.NotFound. A server that a
// profile still names is not removed: the file would no longer load.
func RemoveServer(path string, server tool.ServerID) error {
	id := string(server)
	old, err := ReadFile(path)
	if err != nil {
		return err
	}
	src, found := readSource(path, old)
	if len(found) > 0 {
		return found.Err(path)
	}
	section, servers := sectionOf(src, id)
	if servers == nil {
		return unknownServer(path, id, src)
	}
	edited, ok := src.Remove(servers, id)
	if !ok {
		return doctree.CannotEdit(path, "remove", id)
	}
	after, err := checkEdit(path, src, edited, append(slices.Clone(section), id))
	if err != nil {
		return err
	}
	if _, there := sectionOf(after, id); there != nil {
		return doctree.CannotEdit(path, "remove", id)
	}
	return regular.Replace(path, old, src.Bytes(edited), 0o777)
}

func unknownServer(path, id string, src *doctree.Source) error {
	var names []string
	for _, section := range [][]string{ServersPath(src), apisPath} {
		if servers := src.Root.Find(section...); servers != nil {
			for _, e := range servers.Entries {
				names = append(names, e.Key)
			}
		}
	}
	err := fault.New(fault.NotFound, "%s has no server %q", path, id)
	if near := doctree.Nearest(id, names); near != "" {
		return err.WithHint("did you mean %q?", near)
	}
	return err
}

// checkEdit reads the edited text back. It must hold what the old text held, apart from
// the one server, and must have no new problem.
func checkEdit(path string, src *doctree.Source, edited string, server []string) (*doctree.Source, error) {
	after, found := readSource(path, []byte(edited))
	if len(found) > 0 || !doctree.EqualExcept(src.Root, after.Root, server) {
		return nil, doctree.CannotEdit(path, "change", server[len(server)-1])
	}
	before := rawProblems(src)
	caused := slices.DeleteFunc(rawProblems(after), func(p problem) bool {
		return slices.ContainsFunc(before, func(q problem) bool { return p.Field == q.Field && p.Text == q.Text })
	})
	if len(caused) > 0 {
		return nil, caused.Err(path).WithHint("nothing was written")
	}
	return after, nil
}

// rawProblems returns the problems of a file that do not depend on the environment.
func rawProblems(src *doctree.Source) doctree.Problems {
	d := &decoder{raw: true, client: src.JSON}
	d.config("", src)
	return d.problems
}

// SameServer reports whether the text of the file at path has the server with the same settings.
// A ${} in it stands for whatever the server has there: its secret may have been moved out.
func SameServer(path string, text []byte, s Server) bool {
	src, found := readSource(path, text)
	if len(found) > 0 {
		return false
	}
	at, servers := Servers(src)
	n := servers.Find(string(s.ID))
	if n == nil {
		return false
	}
	d := &decoder{raw: true, client: src.JSON}
	was := d.server(at, entry{Key: string(s.ID), Value: n})
	return len(d.problems) == 0 && matches(encode(was.untyped()), encode(s.untyped()))
}

// SameSettings reports whether two servers have the same settings, whatever they are called.
func SameSettings(a, b Server) bool { return doctree.Equal(encode(a.untyped()), encode(b.untyped())) }

// untyped is the server without a type that says no more than its command or URL: some clients
// write it, others do not.
func (s Server) untyped() Server {
	if s.Type != "sse" {
		s.Type = ""
	}
	return s
}

var reference = regexp.MustCompile(`\$\{[^}]*\}`)

// matches reports whether a tree is like the pattern, in whose texts a ${} stands for anything.
func matches(pattern, n *node) bool {
	same := pattern.Kind == n.Kind && slices.EqualFunc(pattern.Items, n.Items, matches) &&
		slices.EqualFunc(pattern.Entries, n.Entries, func(a, b entry) bool { return a.Key == b.Key && matches(a.Value, b.Value) })
	if !same || pattern.Text == n.Text || !refers(pattern.Text) {
		return same && pattern.Text == n.Text
	}
	var parts []string
	for _, part := range reference.Split(pattern.Text, -1) {
		parts = append(parts, regexp.QuoteMeta(part))
	}
	return regexp.MustCompile(`(?s)^` + strings.Join(parts, ".+") + `$`).MatchString(n.Text)
}
