package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Entry is one key of a server in a client's own form. The value is a string, a bool, a
// []string or a map[string]string.
type Entry struct {
	Key   string
	Value any
}

// ways are the keys that say how a client reaches a server. PutEntry replaces them; all
// other keys of an entry are the client's own and stay.
var ways = []string{
	"type", "transport", "source", "command", "args", "env", "cwd", "url", "serverUrl", "httpUrl", "headers",
	"http_headers", "env_http_headers", "bearer_token_env_var",
}

// ClientEdit is a client's file before and after a change. Nothing is written until Write.
type ClientEdit struct {
	Path     string
	Old, New []byte // Old is nil where there is no file yet
}

// Changed tells whether there is anything to write.
func (e ClientEdit) Changed() bool { return !bytes.Equal(e.Old, e.New) }

// Write puts the new text in place, after it has kept the old one beside the file, in the
// backup whose path it returns.
func (e ClientEdit) Write(now time.Time) (backup string, err error) {
	if e.Old != nil {
		if backup, err = keepBackup(e.Path, e.Old, now); err != nil {
			return "", err
		}
	}
	if err := replaceFile(e.Path, e.Old, e.New, 0o777); err != nil {
		return "", errors.Join(err, removeBackup(backup))
	}
	return backup, nil
}

// keepBackup writes the text beside the file, readable by nobody who cannot read the file.
func keepBackup(path string, text []byte, now time.Time) (string, error) {
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	name := path + ".toolfit-backup-" + now.Format("20060102-150405")
	for i := 2; ; i++ {
		f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
		if errors.Is(err, fs.ErrExist) && i < 100 {
			name = fmt.Sprintf("%s.toolfit-backup-%s-%d", path, now.Format("20060102-150405"), i)
			continue
		}
		if err != nil {
			return "", fmt.Errorf("keep a backup of %s: %w", path, err)
		}
		_, err = f.Write(text)
		if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
			return "", fmt.Errorf("keep a backup of %s: %w", path, errors.Join(err, os.Remove(name)))
		}
		return name, nil
	}
}

func removeBackup(path string) error {
	if path == "" {
		return nil
	}
	return os.Remove(path)
}

// PutEntry is a client's file with the server under the key, where the client keeps its
// servers. A missing file is made. All else keeps its bytes.
func PutEntry(path, key, id string, entries []Entry) (ClientEdit, error) {
	return editClient(path, func(src *source) (string, bool) {
		if isTOML(path) {
			return putTOML(src, key, id, entries)
		}
		return putJSON(src, key, id, entries)
	}, key, id)
}

// CutEntry is a client's file without the server. One that has it not is not changed.
func CutEntry(path, key, id string) (ClientEdit, error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return ClientEdit{Path: path}, nil
	}
	return editClient(path, func(src *source) (string, bool) {
		servers := src.root.find(key)
		switch {
		case servers.find(id) == nil:
			return src.text, true
		case isTOML(path):
			return cutTOML(src, key, id)
		case !servers.flow:
			return "", false
		}
		return removeText(src, servers, id)
	}, key, id)
}

// editClient reads the file, edits it, and checks that only the one server is different.
func editClient(path string, edit func(*source) (string, bool), key, id string) (ClientEdit, error) {
	old, err := readFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return ClientEdit{}, err
	}
	src, found := readForEdit(path, old)
	if len(found) > 0 {
		return ClientEdit{}, found.fault(path)
	}
	text, ok := edit(src)
	if !ok {
		return ClientEdit{}, byHand(path, "change", id)
	}
	after, found := readForEdit(path, []byte(text))
	at := []string{key, id}
	if len(found) > 0 || !equal(prune(src.root, at), prune(after.root, at)) {
		return ClientEdit{}, byHand(path, "change", id)
	}
	return ClientEdit{Path: path, Old: old, New: src.bytes(text)}, nil
}

// readForEdit reads a client's file as it is, with its own keys.
func readForEdit(path string, data []byte) (*source, problems) {
	src, found := readText(data)
	if src == nil {
		return nil, found
	}
	if isTOML(path) {
		src.root, src.tables, found = readTOML(src.text)
	} else {
		src.json = true // whatever the name: no client writes YAML
		src.root, found = readJSON(src.text)
	}
	return src, found
}

// putJSON is the text with the entry in it.
func putJSON(src *source, key, id string, entries []Entry) (string, bool) {
	servers := src.root.find(key)
	value := entryNode(entries)
	if servers == nil || servers.kind == nothing {
		if servers != nil {
			return "", false // null: nobody knows what it is to mean
		}
		return addTextAt(src, []string{key}, id, value)
	}
	i := slices.IndexFunc(servers.entries, func(e entry) bool { return e.key == id })
	if i < 0 {
		return addTextAt(src, []string{key}, id, value)
	}
	was := servers.entries[i].value
	value.entries = append(value.entries, foreign(was)...)
	if equal(was, value) {
		return src.text, true
	}
	indent := indentOf(src.text, servers.entries[i].at)
	unit := ""
	if strings.Contains(src.text[servers.at:servers.entries[i].at], "\n") {
		unit = "  "
		if strings.HasPrefix(indent, "\t") {
			unit = "\t"
		}
	}
	return src.text[:was.at] + jsonValue(value, indent, unit) + src.text[was.end:], true
}

// foreign are the keys of an entry that are the client's own.
func foreign(n *node) (kept []entry) {
	for _, e := range n.entries {
		if !slices.Contains(ways, e.key) {
			kept = append(kept, e)
		}
	}
	return kept
}

func entryNode(entries []Entry) *node {
	n := &node{kind: object}
	for _, e := range entries {
		n.entries = append(n.entries, entry{key: e.Key, value: valueNode(e.Value)})
	}
	return n
}

func valueNode(v any) *node {
	switch v := v.(type) {
	case bool:
		return &node{kind: boolean, text: fmt.Sprint(v)}
	case []string:
		n := &node{kind: list}
		for _, s := range v {
			n.items = append(n.items, textNode(s))
		}
		return n
	case map[string]string:
		return mapNode(v)
	}
	return textNode(fmt.Sprint(v))
}

// putTOML is the text with the table in it: in place of an old one, or at the end.
func putTOML(src *source, key, id string, entries []Entry) (string, bool) {
	value := entryNode(entries)
	lines := []string{"[" + key + "." + tomlKey(id) + "]"}
	for _, e := range value.entries {
		lines = append(lines, tomlKey(e.key)+" = "+flowTOML(e.value))
	}
	was := src.root.find(key).find(id)
	if was == nil {
		text := src.text
		if text != "" && !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		if text != "" {
			text += "\n"
		}
		return text + strings.Join(lines, "\n") + "\n", true
	}
	i := slices.IndexFunc(src.tables, func(t tomlTable) bool { return t.node == was && len(t.path) > 0 })
	if i < 0 {
		return "", false // it is no table with a header of its own
	}
	table := src.tables[i]
	kept := &node{kind: object}
	for _, e := range foreign(was) {
		kept.entries = append(kept.entries, e)
		if e.value.flow { // else it is a table of its own, which stays where it is
			lines = append(lines, src.text[e.at:e.value.end])
		}
	}
	value.entries = append(value.entries, kept.entries...)
	if equal(was, value) {
		return src.text, true
	}
	for _, e := range was.entries { // a table of its own that we would have to take out
		if !e.value.flow && slices.Contains(ways, e.key) {
			return "", false
		}
	}
	return src.text[:table.at] + strings.Join(lines, "\n") + src.text[table.end:], true
}

// cutTOML is the text without the server's tables.
func cutTOML(src *source, key, id string) (string, bool) {
	text := src.text
	cut := false
	for _, t := range slices.Backward(src.tables) {
		if len(t.path) < 2 || t.path[0] != key || t.path[1] != id {
			continue
		}
		from, to := t.at, t.end
		if i := strings.IndexByte(text[to:], '\n'); i >= 0 {
			to += i + 1
		} else {
			to = len(text)
		}
		if strings.HasSuffix(text[:from], "\n\n") { // the empty line before it
			from--
		}
		text = text[:from] + text[to:]
		cut = true
	}
	return text, cut
}

func tomlKey(s string) string {
	if bareKey.FindString(s) == s && s != "" {
		return s
	}
	return tomlString(s)
}

// tomlString is text in quotes. What JSON escapes, TOML reads too.
func tomlString(s string) string { return strings.ReplaceAll(jsonString(s), "\x7f", `\u007F`) }

func flowTOML(n *node) string {
	var parts []string
	switch n.kind {
	case object:
		for _, e := range n.entries {
			parts = append(parts, tomlKey(e.key)+" = "+flowTOML(e.value))
		}
		return "{ " + strings.Join(parts, ", ") + " }"
	case list:
		for _, item := range n.items {
			parts = append(parts, flowTOML(item))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case text:
		return tomlString(n.text)
	}
	return n.text
}

// SameServer tells whether the file at path has the server with the same settings already. A
// ${} in the file stands for whatever the server has there: its secret may have moved.
func SameServer(path string, s Server) bool {
	data, err := readFile(path)
	if err != nil {
		return false
	}
	src, found := readSource(path, data)
	if len(found) > 0 {
		return false
	}
	at, servers := serversIn(src)
	n := servers.find(string(s.ID))
	if n == nil {
		return false
	}
	d := &decoder{raw: true, client: src.json}
	was := d.server(at, entry{key: string(s.ID), value: n})
	return len(d.problems) == 0 && fits(encode(was), encode(s))
}

var reference = regexp.MustCompile(`\$\{[^}]*\}`)

// fits tells whether a tree is like the pattern, in whose texts a ${} stands for anything.
func fits(pattern, n *node) bool {
	if pattern.kind != n.kind || len(pattern.items) != len(n.items) || len(pattern.entries) != len(n.entries) {
		return false
	}
	for i := range n.items {
		if !fits(pattern.items[i], n.items[i]) {
			return false
		}
	}
	for i := range n.entries {
		if pattern.entries[i].key != n.entries[i].key || !fits(pattern.entries[i].value, n.entries[i].value) {
			return false
		}
	}
	if pattern.text == n.text || !refers(pattern.text) {
		return pattern.text == n.text
	}
	var parts []string
	for _, part := range reference.Split(pattern.text, -1) {
		parts = append(parts, regexp.QuoteMeta(part))
	}
	return regexp.MustCompile(`(?s)^` + strings.Join(parts, ".+") + `$`).MatchString(n.text)
}
