package catalog

import (
	"encoding/json"
	"net/url"
	"path"
	"strings"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/search"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/access"
)

// skillScheme is the scheme of skills as clients see them, skill://SERVER/PATH: servers may have equal URIs.
const skillScheme = "skill://"

// skillSet is what a profile has of a server's skills; nil: the server has none.
type skillSet struct {
	server      tool.ServerID
	list        []*skill
	at          map[string]*skill // all that the server lists, by the place of the directory
	schemes     map[string]bool   // of their URIs, other than skill
	directories bool              // the server lists what is in a directory
}

// skill is a skill of a server.
type skill struct {
	server   tool.ServerID
	original string // its URI at the server
	uri      string // its URI here
	raw      json.RawMessage
	shown    bool
}

// skills is what the profile has of a server's skills.
func (f *frame) skills(k *known) *skillSet {
	id := k.cfg.ID
	if !mcp.Declares(k.offer.Capabilities, mcp.ExtensionSkills) || !access.SeesServer(f.Profile, id) {
		return nil
	}
	s := &skillSet{server: id, at: map[string]*skill{}, schemes: map[string]bool{}}
	s.directories = string(rawjson.Get(k.offer.Capabilities, "extensions", mcp.ExtensionSkills, "directoryRead")) == "true"
	for _, raw := range k.offer.Skills {
		if scheme, _, _ := strings.Cut(textOf(raw, "uri"), "://"); scheme+"://" != skillScheme {
			s.schemes[scheme] = true
		}
	}
	var all []*skill
	for _, raw := range k.offer.Skills {
		uri := textOf(raw, "uri")
		one := &skill{server: id, original: uri, uri: s.here(uri), raw: s.entryHere(raw)}
		_, held := k.held[pin{SkillKind, uri}]
		one.shown = !held && access.Sees(f.Profile, id, tool.Canonical(id, uri)) &&
			s.original(one.uri) == uri // else skill://a/b would be a://b
		if first := s.at[place(tool.SkillDirectory(uri))]; first != nil { // the server may take them for the same
			first.shown = first.shown && one.shown
			continue
		}
		s.at[place(tool.SkillDirectory(uri))] = one
		all = append(all, one)
	}
	for _, one := range all {
		if one.shown {
			s.list = append(s.list, one)
		}
	}
	return s
}

// prefix is what the URIs of the server's skills begin with here.
func (s *skillSet) prefix() string { return skillScheme + url.PathEscape(string(s.server)) + "/" }

// here is the URI that something of the server's skills has here. Any other stays as it is.
func (s *skillSet) here(uri string) string {
	switch scheme, path, found := strings.Cut(uri, "://"); {
	case found && scheme+"://" == skillScheme:
		return s.prefix() + path
	case found && s.schemes[scheme]:
		return s.prefix() + scheme + "/" + path
	}
	return uri
}

// original is the other way round.
func (s *skillSet) original(uri string) string {
	rest := strings.TrimPrefix(uri, s.prefix())
	if scheme, path, found := strings.Cut(rest, "/"); found && s.schemes[scheme] {
		return scheme + "://" + path
	}
	return skillScheme + rest
}

// moves tells whether a resource that the server lists is among its skills.
func (s *skillSet) moves(uri string) bool {
	return s != nil && (strings.HasPrefix(uri, skillScheme) || s.of(uri) != nil)
}

// of is the listed skill that a file belongs to; of one within another, the inner one; nil: none.
func (s *skillSet) of(uri string) *skill {
	if s == nil {
		return nil
	}
	for at := place(uri); at != "."; at = path.Dir(at) {
		if one := s.at[at]; one != nil {
			return one
		}
	}
	return nil
}

// maxPlace limits how much of a URI is looked at: no skill's is longer.
const maxPlace = 4 << 10

// place is a URI as the most generous server reads it: whatever it may take for a file of a skill must count as that file.
func place(uri string) string {
	if end := strings.IndexAny(uri, "?#"); end >= 0 {
		uri = uri[:end]
	}
	scheme, rest, _ := strings.Cut(uri, "://")
	if text, err := url.PathUnescape(rest); err == nil {
		rest = text
	}
	rest = path.Clean("/" + strings.ReplaceAll(rest, `\`, "/"))
	return strings.ToLower(scheme + ":" + rest[:min(len(rest), maxPlace)])
}

// entryHere is the entry of a skill with the URIs that it and its files have here.
func (s *skillSet) entryHere(entry json.RawMessage) json.RawMessage {
	return each(s.uriHere(entry), "resources", s.uriHere)
}

func (s *skillSet) uriHere(object json.RawMessage) json.RawMessage {
	return mcp.Edit(object, "uri", func(value []byte) []byte {
		uri, ok := rawjson.String(value)
		if here := s.here(uri); ok && here != uri {
			return rawjson.AppendString(nil, here)
		}
		return value
	})
}

// each is an object whose member is a list of what edit makes of its elements; nil leaves one out.
func each(object json.RawMessage, member string, edit func(element json.RawMessage) json.RawMessage) json.RawMessage {
	return mcp.Edit(object, member, func(list []byte) []byte {
		var edits []rawjson.Edit
		kept := []json.RawMessage{}
		for w := rawjson.Array(list); w.Next(); {
			now := edit(w.Value)
			edits = append(edits, rawjson.Edit{Start: w.Start, End: w.End, New: now})
			if now != nil {
				kept = append(kept, now)
			}
		}
		if len(kept) < len(edits) {
			return rawjson.Encode(kept) // with other commas
		}
		return rawjson.AppendSplice(nil, list, edits...)
	})
}

// addSkills adds a server's skills, before any resources: nobody else has URIs there.
func (g *group) addSkills(b *beside) {
	if b.skills == nil {
		return
	}
	if g.withSkills == nil {
		g.withSkills = map[string]*beside{}
	}
	g.withSkills[url.PathEscape(string(b.server))] = b
	g.skills = append(g.skills, b.skills.list...)
}

// amongSkills is the server among whose skills a URI is here; nil: it is of something else.
func (g *group) amongSkills(uri string) *beside {
	rest, ok := strings.CutPrefix(uri, skillScheme)
	server, _, found := strings.Cut(rest, "/")
	if !ok || !found {
		return nil
	}
	return g.withSkills[server]
}

// hereOf is a resource of a server, or a template, under the URI that it has here; false: it has none.
func (g *group) hereOf(b *beside, r resource, member string) (resource, bool) {
	if !b.skills.moves(r.uri) {
		return r, g.amongSkills(r.uri) == nil
	}
	if one := b.skills.of(r.uri); one != nil && !one.shown {
		return r, false
	}
	here := b.skills.here(r.uri)
	return resource{here, mcp.Edit(r.raw, member, func([]byte) []byte { return rawjson.AppendString(nil, here) })}, true
}

// reads tells whether the profile has what a server's URI is of: a file of a skill that is shown, or one of no listed skill.
func (v *View) reads(b *beside, uri string) bool {
	if one := b.skills.of(uri); one != nil && !one.shown || isWithheld(b.withheld, uri) {
		return false
	} else if one != nil {
		return true
	}
	return access.Sees(v.frame.Profile, b.server, tool.Canonical(b.server, uri))
}

// SkillServer finds the server of a skill, listed or not.
func (v *View) SkillServer(uri string) (tool.ServerID, error) {
	if b := v.beside.amongSkills(uri); b != nil && v.reads(b, b.skills.original(uri)) {
		return b.server, nil
	}
	err := fault.New(fault.NotFound, "unknown skill: %.200s", uri)
	return "", err.WithHint("the skills of a server are %sSERVER/…; skills/list has those that can be listed", skillScheme)
}

// SkillOf is the URI at the server of the listed skill that a file belongs to; "": none.
func (v *View) SkillOf(server tool.ServerID, uri string) string {
	if b := v.beside.withSkills[url.PathEscape(string(server))]; b != nil {
		if one := b.skills.of(uri); one != nil {
			return one.original
		}
	}
	return ""
}

// ListsDirectories tells whether a server lists what is in a directory.
func (v *View) ListsDirectories(server tool.ServerID) bool {
	b := v.beside.withSkills[url.PathEscape(string(server))]
	return b != nil && b.skills.directories
}

// Here is a server's result about a resource, as it was asked for: what member has of skills that the profile does not show, or
// that may refuses by the server's own URI, is left out. What is asked for among skills has the URIs there.
func (v *View) Here(server tool.ServerID, asked, member string, result json.RawMessage, may func(uri string) bool) json.RawMessage {
	b := v.beside.withSkills[url.PathEscape(string(server))]
	if b == nil {
		return result
	}
	among := v.beside.amongSkills(asked) != nil
	return each(result, member, func(element json.RawMessage) json.RawMessage {
		uri := textOf(element, "uri")
		if one := b.skills.of(uri); one != nil && !(one.shown && may(uri)) {
			return nil
		}
		if among {
			return b.skills.uriHere(element)
		}
		return element
	})
}

// GotSkill is what a server answers about a skill, as it is here. Of a listed skill only the listed entry is shown: a server that
// has another one by now must be listed again, since the new one may have to be approved.
func (v *View) GotSkill(uri string, result json.RawMessage) (here json.RawMessage, changed bool, err error) {
	b := v.beside.amongSkills(uri)
	entry := rawjson.Get(result, "skill")
	is, err := tool.CheckSkill(entry)
	if err == nil && is != b.skills.original(uri) {
		err = fault.New(fault.BadRequest, "it is another one")
	}
	if err != nil {
		return nil, false, fault.New(fault.UpstreamProtocol, "server %s sent an invalid skill: %w", b.server, err)
	}
	entry = b.skills.entryHere(entry)
	if one := b.skills.of(is); one != nil && one.original == is && !tool.Same(one.raw, entry) {
		entry = one.raw
		changed = true
	}
	return mcp.Edit(result, "skill", func([]byte) []byte { return entry }), changed, nil
}

// FoundSkill is a skill that a search found.
type FoundSkill struct {
	URI         string        `json:"uri"`
	Name        string        `json:"name"`
	Server      tool.ServerID `json:"server"`
	Description string        `json:"description"`
}

// maxSkills is how many skills a search finds.
const maxSkills = 3

// FindSkills returns the listed skills that match a text, only those of one server unless it is "".
func (v *View) FindSkills(text string, server tool.ServerID) (found []FoundSkill) {
	list := v.beside.skills
	if len(list) == 0 {
		return nil
	}
	v.skillsOnce.Do(func() {
		docs := make([]search.Doc, len(list))
		for i, s := range list {
			front := rawjson.Get(s.raw, "frontmatter")
			docs[i] = search.Doc{ID: s.uri, Name: textOf(front, "name"), Description: textOf(front, "description")}
		}
		v.skillIndex = search.New(search.Read(docs))
	})
	may := func(i int) bool { return server == "" || list[i].server == server }
	for _, r := range v.skillIndex.Search(search.Query{Text: text, Limit: maxSkills, Allow: may}) {
		if r.Score < search.Sure {
			continue
		}
		s := list[r.Index]
		front := rawjson.Get(s.raw, "frontmatter")
		found = append(found, FoundSkill{s.uri, textOf(front, "name"), s.server, textOf(front, "description")})
	}
	return found
}
