// Package clientfile reads and edits the configuration files of MCP clients: Claude, Cursor,
// VS Code, Zed, Codex and others. It imports the servers in such a file, and puts one server
// into it or removes it while everything else keeps its bytes. Nothing is written before Write.
//
//	edit, err := clientfile.Open(path)
//	edit, err = edit.Put([]string{"mcpServers"}, "toolfit", entries)
//	backup, err := edit.Write(time.Now())
package clientfile

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/doctree"
	"github.com/toolfit/toolfit/internal/base/regular"
	"github.com/toolfit/toolfit/internal/core/clients"
	"github.com/toolfit/toolfit/internal/state/config"
)

// transportKeys are the keys that say how a client reaches a server. Put replaces them; all
// other keys of an entry are the client's own and stay.
var transportKeys = []string{
	"type", "transport", "source", "command", "args", "env", "cwd", "url", "serverUrl", "httpUrl", "headers",
	"http_headers", "env_http_headers", "bearer_token_env_var",
}

// Edit is a client's file before and after a change. Nothing is written until Write.
type Edit struct {
	Path     string
	Old, New []byte // Old is nil where there is no file yet
}

// Changed reports whether there is anything to write.
func (e Edit) Changed() bool { return !bytes.Equal(e.Old, e.New) }

// Write replaces the file after saving the old text beside it, in the backup whose path it returns.
func (e Edit) Write(now time.Time) (backup string, err error) {
	if e.Old != nil {
		backup = regular.BackupPath(e.Path, now)
		if err := regular.WriteBackup(e.Path, backup, e.Old); err != nil {
			return "", err
		}
	}
	err = regular.Replace(e.Path, e.Old, e.New, 0o777)
	if err != nil && backup != "" {
		err = errors.Join(err, os.Remove(backup))
	}
	if err != nil {
		return "", err
	}
	return backup, nil
}

// Open reads a client's file, to change it. A missing file is one without text.
func Open(path string) (Edit, error) {
	old, err := config.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Edit{}, err
	}
	return Edit{Path: path, Old: old, New: old}, nil
}

// Put returns the file with the server under the keys, where the client keeps its servers.
func (e Edit) Put(keys []string, id string, entries []clients.Entry) (Edit, error) {
	return e.change(func(f *file) (string, bool) {
		if isTOML(e.Path) {
			return f.putTOML(keys[0], id, entries)
		}
		return f.putJSON(keys, id, entries)
	}, keys, id)
}

// Remove returns the file without the server. A file that does not have it is not changed.
func (e Edit) Remove(keys []string, id string) (Edit, error) {
	if e.New == nil {
		return e, nil
	}
	return e.change(func(f *file) (string, bool) {
		servers := f.Root.Find(keys...)
		switch {
		case servers.Find(id) == nil:
			return f.Text, true
		case isTOML(e.Path):
			return f.cutTOML(keys[0], id)
		}
		return f.Source.Remove(servers, id)
	}, keys, id)
}

// file is a client's file with its own keys.
type file struct {
	*doctree.Source
	tables []tomlTable // of a TOML file
}

// change edits the text, and checks that only the one server is different.
func (e Edit) change(edit func(*file) (string, bool), keys []string, id string) (Edit, error) {
	before, found := parse(e.Path, e.New)
	if len(found) > 0 {
		return e, found.Err(e.Path)
	}
	text, ok := edit(before)
	if !ok {
		return e, doctree.CannotEdit(e.Path, "change", id)
	}
	after, found := parse(e.Path, []byte(text))
	if len(found) > 0 || !doctree.EqualExcept(e.ordered(before.Root), e.ordered(after.Root), append(slices.Clone(keys), id)) {
		return e, doctree.CannotEdit(e.Path, "change", id)
	}
	return Edit{Path: e.Path, Old: e.Old, New: before.Bytes(text)}, nil
}

// ordered returns a tree of TOML with its keys in order: a table that goes may have been the
// first part of a larger one.
func (e Edit) ordered(n *doctree.Node) *doctree.Node {
	if !isTOML(e.Path) {
		return n
	}
	out := *n
	out.Entries = slices.Clone(n.Entries)
	for i := range out.Entries {
		out.Entries[i].Value = e.ordered(out.Entries[i].Value)
	}
	slices.SortFunc(out.Entries, func(a, b doctree.Entry) int { return strings.Compare(a.Key, b.Key) })
	return &out
}

// parse reads a client's file: TOML by its name, else JSON, for no client writes YAML.
func parse(path string, data []byte) (f *file, found doctree.Problems) {
	f = &file{}
	if !isTOML(path) {
		f.Source, found = doctree.ParseJSON(data)
		return f, found
	}
	f.Source, found = doctree.NewSource(data)
	if f.Source != nil {
		f.Root, f.tables, found = readTOML(f.Text)
	}
	return f, found
}

// putJSON returns the text with the entry in it.
func (f *file) putJSON(keys []string, id string, entries []clients.Entry) (string, bool) {
	servers := f.Root.Find(keys...)
	value := clients.Node(entries)
	if servers != nil && servers.Kind == doctree.Nothing {
		return "", false // null, whatever that means to the client
	}
	was := servers.Find(id)
	if was == nil {
		return f.Insert(keys, id, value)
	}
	value.Entries = append(value.Entries, ownKeys(was)...)
	if doctree.Equal(was, value) {
		return f.Text, true
	}
	return f.ReplaceJSON(servers, id, value), true
}

// ownKeys returns the keys of an entry that are the client's own.
func ownKeys(n *doctree.Node) []doctree.Entry {
	return slices.DeleteFunc(slices.Clone(n.Entries), func(e doctree.Entry) bool { return slices.Contains(transportKeys, e.Key) })
}

// putTOML returns the text with the table in it: in place of an old one, or at the end.
func (f *file) putTOML(key, id string, entries []clients.Entry) (string, bool) {
	value := clients.Node(entries)
	lines := clients.TOMLTable(key, id, value)
	was := f.Root.Find(key, id)
	if was == nil {
		text := f.Text
		if text != "" {
			text = strings.TrimSuffix(text, "\n") + "\n\n"
		}
		return text + strings.Join(lines, "\n") + "\n", true
	}
	i := slices.IndexFunc(f.tables, func(t tomlTable) bool { return t.node == was && len(t.path) > 0 })
	if i < 0 {
		return "", false // it is not a table with a header of its own
	}
	for _, e := range ownKeys(was) {
		value.Entries = append(value.Entries, e)
		if e.Value.Flow { // else it is a table of its own, which stays where it is
			lines = append(lines, f.Text[e.Start:e.Value.End])
		}
	}
	if doctree.Equal(was, value) {
		return f.Text, true
	}
	for _, e := range was.Entries { // a table of its own that would have to go
		if !e.Value.Flow && slices.Contains(transportKeys, e.Key) {
			return "", false
		}
	}
	return f.Text[:f.tables[i].start] + strings.Join(lines, "\n") + f.Text[f.tables[i].end:], true
}

// cutTOML returns the text without the server's tables.
func (f *file) cutTOML(key, id string) (string, bool) {
	text := f.Text
	for _, t := range slices.Backward(f.tables) {
		if len(t.path) < 2 || t.path[0] != key || t.path[1] != id {
			continue
		}
		before := text[:t.start]
		if strings.HasSuffix(before, "\n\n") {
			before = before[:len(before)-1]
		}
		_, after, _ := strings.Cut(text[t.end:], "\n")
		text = before + after
	}
	return text, text != f.Text
}
