package clientfile

import (
	"cmp"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/doctree"
	"github.com/toolfit/toolfit/internal/state/config"
)

// Restore returns a client's file with the servers that it had before, in place of our own one,
// whatever else of it has changed since. It answers false if servers beside our own were changed,
// too.
func Restore(path string, now, before []byte, own string) ([]byte, bool) {
	if isTOML(path) {
		return restoreTOML(path, now, before, own)
	}
	was, found := doctree.ParseJSON(before)
	if len(found) > 0 {
		return nil, false
	}
	restored := false
	for _, keys := range serverPlaces(was) {
		is, found := doctree.ParseJSON(now)
		if len(found) > 0 {
			return nil, false
		}
		old := was.Root.Find(keys...)
		n := is.Root.Find(keys...)
		if n.Find(own) == nil {
			continue // we are not there
		}
		if !onlyAdds(n, old, own) {
			return nil, false
		}
		now = is.Bytes(is.Text[:n.Start] + was.Text[old.Start:old.End] + is.Text[n.End:])
		restored = true
	}
	return now, restored
}

// onlyAdds tells whether the servers are some of the old ones, apart from our own.
func onlyAdds(now, old *doctree.Node, own string) bool {
	return !slices.ContainsFunc(now.Entries, func(e doctree.Entry) bool {
		was := old.Find(e.Key)
		return e.Key != own && (was == nil || !doctree.Equal(was, e.Value))
	})
}

// restoreTOML is Restore for TOML: the tables that are missing come to the end.
func restoreTOML(path string, now, before []byte, own string) ([]byte, bool) {
	was, wrong := parse(path, before)
	is, found := parse(path, now)
	if len(wrong)+len(found) > 0 || is.Root.Find(codexServers, own) == nil ||
		!onlyAdds(is.Root.Find(codexServers), was.Root.Find(codexServers), own) {
		return nil, false
	}
	text, ok := is.cutTOML(codexServers, own)
	for _, t := range was.tables {
		if len(t.path) > 1 && t.path[0] == codexServers && (t.path[1] == own || is.Root.Find(codexServers, t.path[1]) == nil) {
			text = strings.TrimRight(text, "\n") + "\n\n" + was.Text[t.start:t.end] + "\n"
		}
	}
	e := Edit{Path: path}
	after, found := parse(path, []byte(text))
	if !ok || len(found) > 0 || !doctree.Equal(e.ordered(servers(after)), e.ordered(servers(was))) {
		return nil, false
	}
	return is.Bytes(text), true
}

// servers are those of a TOML file; an empty mapping without any.
func servers(f *file) *doctree.Node {
	return cmp.Or(f.Root.Find(codexServers), &doctree.Node{Kind: doctree.Mapping})
}

// serverPlaces are the keys under which the file has servers, also those of projects.
func serverPlaces(src *doctree.Source) (places [][]string) {
	if usual := config.ServersPath(src); src.Root.Find(usual...) != nil {
		places = append(places, usual)
	}
	if projects := src.Root.Find("projects"); projects != nil {
		for _, e := range projects.Entries {
			if e.Value.Find("mcpServers") != nil {
				places = append(places, []string{"projects", e.Key, "mcpServers"})
			}
		}
	}
	return places
}

// Secrets returns the texts in a client's file or a configuration that look like secrets.
func Secrets(path string, text []byte) (all []string) {
	f, found := parse(path, text)
	if !isTOML(path) && !config.IsClientFile(path) {
		f.Source, found = doctree.ParseYAML(text)
	}
	if len(found) > 0 || f.Source == nil {
		return nil
	}
	return slices.Compact(slices.Sorted(slices.Values(config.SecretTexts(f.Root))))
}
