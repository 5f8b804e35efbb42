package config

import (
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
)

// header opens a file that AddServer makes.
const header = `# Configuration of toolfit. Each server below is reached through one gateway.
# ${VAR} is filled in from the environment, ${file:PATH} from a file.
`

// AddServer writes a server into the file at path and leaves all else as it stands. The
// values go in as they are: "${VAR}" stays "${VAR}". A missing file is made; with a server
// whose text holds a secret the file is its user's alone. A name that is there already is a
// fault.Conflict; a server that would not load is not written.
func AddServer(path string, s Server) error {
	if err := tool.CheckServerID(s.ID); err != nil {
		return err
	}
	old, err := readFile(path)
	missing := errors.Is(err, fs.ErrNotExist)
	if err != nil && !missing {
		return err
	}
	if missing && !OfClient(path) {
		old = []byte(header)
	}
	src, found := readSource(path, old)
	if len(found) > 0 {
		return found.fault(path)
	}
	id, value, section := string(s.ID), encode(s), serversPath(src)
	if s.API != nil {
		section = apisPath
	}
	if _, there := sectionOf(src, id); there != nil {
		return fault.New(fault.Conflict, "%s has a server %q already", path, id).WithHint("remove it first, or choose another name")
	}
	edited, ok := addTextAt(src, section, id, value)
	if !ok {
		return byHand(path, "add", id)
	}
	after, err := checkEdit(path, src, edited, append(slices.Clone(section), id))
	if err != nil {
		return err
	}
	if _, servers := sectionOf(after, id); servers == nil || !equal(servers.find(id), value) {
		return byHand(path, "add", id)
	}
	if missing {
		old = nil
	}
	mask := fs.FileMode(0o777)
	if s.holds() {
		mask = 0o600
	}
	return replaceFile(path, old, src.bytes(edited), mask)
}

// RemoveServer takes a server out of the file at path and leaves all else, also the
// comments around it. A name that is not there is a fault.NotFound. A server that a
// profile still names is not removed: the file would no longer load.
func RemoveServer(path string, id tool.ServerID) error {
	old, err := readFile(path)
	if err != nil {
		return err
	}
	src, found := readSource(path, old)
	if len(found) > 0 {
		return found.fault(path)
	}
	section, servers := sectionOf(src, string(id))
	if servers == nil {
		return unknownServer(path, string(id), src)
	}
	edited, ok := removeText(src, servers, string(id))
	if !ok {
		return byHand(path, "remove", string(id))
	}
	after, err := checkEdit(path, src, edited, append(slices.Clone(section), string(id)))
	if err != nil {
		return err
	}
	if _, there := sectionOf(after, string(id)); there != nil {
		return byHand(path, "remove", string(id))
	}
	return replaceFile(path, old, src.bytes(edited), 0o777)
}

func unknownServer(path, id string, src *source) error {
	var names []string
	for _, section := range [][]string{serversPath(src), apisPath} {
		if servers := follow(src.root, section); servers != nil {
			for _, e := range servers.entries {
				names = append(names, e.key)
			}
		}
	}
	err := fault.New(fault.NotFound, "%s has no server %q", path, id)
	if near := nearest(id, names); near != "" {
		return err.WithHint("did you mean %q?", near)
	}
	return err
}

func byHand(path, verb, id string) error {
	return fault.New(fault.BadConfig, "%s: %s server %q: the text is laid out in a way that can not be edited safely", path, verb, id).
		WithHint("edit it by hand")
}

// checkEdit reads the edited text back. It must hold what the old text held, apart from
// the one server, and must have no problem that the old text did not have.
func checkEdit(path string, src *source, edited string, server []string) (*source, error) {
	after, found := readSource(path, []byte(edited))
	if len(found) > 0 || !equal(prune(src.root, server), prune(after.root, server)) {
		return nil, byHand(path, "change", server[len(server)-1])
	}
	before := rawProblems(src)
	var caused problems
	for _, p := range rawProblems(after) {
		same := func(q problem) bool { return p.field == q.field && p.text == q.text }
		if !slices.ContainsFunc(before, same) {
			caused = append(caused, p)
		}
	}
	if len(caused) > 0 {
		return nil, caused.fault(path).WithHint("nothing was written")
	}
	return after, nil
}

// rawProblems are the problems of a file that do not depend on the environment.
func rawProblems(src *source) problems {
	d := &decoder{raw: true, client: src.json}
	d.config("", src)
	return d.problems
}

// prune is a tree without the server at the path, and without what is empty then.
func prune(n *node, path []string) *node {
	out := &node{kind: n.kind, text: n.text, items: n.items}
	for _, e := range n.entries {
		if e.key == path[0] {
			if len(path) == 1 {
				continue
			}
			e.value = prune(e.value, path[1:])
			if e.value.kind == nothing {
				continue
			}
		}
		out.entries = append(out.entries, e)
	}
	if out.kind == object && len(out.entries) == 0 {
		out.kind = nothing
	}
	return out
}

// addTextAt is the text with one more server under the path. It answers false where it knows
// no safe place.
func addTextAt(src *source, path []string, id string, value *node) (string, bool) {
	servers := follow(src.root, path)
	switch {
	case servers != nil && servers.kind == object && servers.flow && (src.json || len(servers.entries) > 0):
		return insertFlow(src, servers, id, value), true
	case src.root.flow && servers == nil:
		outer := &node{kind: object, entries: []entry{{key: id, value: value}}}
		return insertFlow(src, src.root, path[0], outer), true
	case src.json && src.root.kind == nothing && strings.TrimSpace(src.text) == "":
		outer := &node{kind: object, entries: []entry{{key: id, value: value}}}
		whole := &node{kind: object, entries: []entry{{key: path[0], value: outer}}}
		return jsonValue(whole, "", "  ") + "\n", true
	case src.json || src.root.flow:
		return "", false
	}
	return insertBlock(src, path[0], id, value)
}

// removeText is the text without the server.
func removeText(src *source, servers *node, id string) (string, bool) {
	i := slices.IndexFunc(servers.entries, func(e entry) bool { return e.key == id })
	if servers.flow {
		return cutFlow(src, servers, i)
	}
	return cutBlock(src, servers, i), true
}
