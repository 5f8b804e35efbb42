package catalog

import (
	"crypto/sha256"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/prompt"
	"github.com/toolfit/toolfit/internal/core/search"
	"github.com/toolfit/toolfit/internal/core/tokens"
	"github.com/toolfit/toolfit/internal/state/config"
)

// offer is how agents find the tools of a view: by its list, or by a search.
type offer struct {
	mode   prompt.Mode
	auto   bool // the mode follows the size of the list
	search bool // the search tools exist, listed or not
}

// overviewBudget is the token limit of the overview.
const overviewBudget = 300

// chooseOffer decides what the list shows. In auto mode the search tools always work: a client may have seen the other list.
func (v *View) chooseOffer(p config.Profile, own *OwnTools, before *View) {
	o := &v.offer
	o.mode = prompt.List
	o.auto = p.Search.Mode == "auto"
	o.search = o.auto || p.Search.Mode == "on" || p.Code
	if !o.search {
		return
	}
	if o.auto || p.Search.Mode == "on" {
		o.mode = prompt.Search
	}
	if o.auto {
		var was prompt.Mode
		if before != nil && before.offer.auto {
			was = before.offer.mode
		}
		o.mode = prompt.Auto(v.listCost(), p.Search.Context, was)
	}
	for i, part := range v.parts {
		if part != nil {
			v.parts[i] = part.listed(o.mode == prompt.Search).withTopics()
		}
	}
	if own.Search == nil {
		return
	}
	for _, def := range own.Search(v.Overview()) {
		if e := v.addOwn(p, def); e != nil {
			e.unlisted = o.mode == prompt.List && !p.Code
		}
	}
	if p.Code && own.Script != nil {
		if e := v.addOwn(p, own.Script(v.Overview())); e != nil {
			e.Detach = config.ResolveDetach(p.Detach, v.frame.cfg.Detach)
		}
	}
}

// listCost is how many tokens the list of all tools costs, in a view that is being made.
func (v *View) listCost() int {
	if v.Dialect != "" { // which tools are strict depends on the others
		all := &View{content: v.content}
		for _, e := range v.together(0) {
			one := *e
			one.unlisted = false
			all.Entries = append(all.Entries, &one)
		}
		return tokens.Estimate(joined("tools", all.items(ToolKind)))
	}
	sum := tokens.Hundredths(joined("tools", v.itemsOf(v.Entries)))
	for _, p := range v.parts {
		if p != nil {
			sum += p.tokens(v)
		}
	}
	if len(v.Entries) == 0 && sum > tokens.Hundredths(joined("tools", nil)) {
		sum -= tokens.Hundredths(",")
	}
	return int((sum + 50) / 100)
}

func matches(globs []string, name string) bool {
	return slices.ContainsFunc(globs, func(glob string) bool { return tool.Match(glob, name) })
}

// Searches tells whether the profile has the search tools.
func (v *View) Searches() bool { return v.offer.search }

// Overview names the servers and what their tools are about, on one line.
func (v *View) Overview() string {
	var servers []prompt.Server
	for _, p := range v.parts {
		if p != nil && len(p.kept) > 0 {
			servers = append(servers, prompt.Server{Name: string(p.from.id), Topics: p.about()})
		}
	}
	return prompt.Overview(servers, overviewBudget, tokens.Estimate[[]byte])
}

// Finder searches the tools of a view. It is immutable.
type Finder struct {
	Index   *search.Index
	Entries []*Entry // the tools, by their place in the index
	Texts   []Text   // their texts for the embedding model
}

// Text is a text for the embedding model, with its digest as a cache key.
type Text struct {
	Text   string
	Digest [sha256.Size]byte
}

// NewText makes a Text.
func NewText(text string) Text { return Text{text, sha256.Sum256([]byte(text))} }

// maxMeaning limits the bytes of a tool's text for the embedding model.
const maxMeaning = 2000

// Finder returns the view's finder, made on first use from what its parts have read.
func (v *View) Finder() *Finder {
	v.finderOnce.Do(func() {
		f := &Finder{}
		var groups []*search.Group
		for _, p := range v.parts {
			if p != nil && len(p.kept) > 0 {
				tools := p.forModels()
				p.searchable.read(tools)
				groups = append(groups, p.searchable.group)
				f.Entries = append(f.Entries, tools...)
				f.Texts = append(f.Texts, p.searchable.texts...)
			}
		}
		f.Index = search.New(groups...)
		v.finder = f
	})
	return v.finder
}

// searchable is what a search needs of a part's tools, read on first use.
type searchable struct {
	once  sync.Once
	group *search.Group
	texts []Text
}

func (s *searchable) read(tools []*Entry) {
	s.once.Do(func() {
		docs := make([]search.Doc, len(tools))
		s.texts = make([]Text, len(tools))
		for i, e := range tools {
			docs[i] = doc(e)
			text := strings.ToValidUTF8(docs[i].Name+": "+docs[i].Description, "")
			s.texts[i] = NewText(strings.ToValidUTF8(text[:min(len(text), maxMeaning)], ""))
		}
		s.group = search.Read(docs)
	})
}

// doc is the searchable text of a tool.
func doc(e *Entry) search.Doc {
	d := search.Doc{
		ID: string(e.Name), Name: e.Definition.Name, Server: string(e.Server), ServerDescription: e.of.from.about,
		Description: e.Description(), Tags: tags(e), Schema: e.InputSchema(),
	}
	if path, ok := rawjson.String(rawjson.Get(e.Definition.Raw, "_meta", "toolfit/operation", "path")); ok {
		method, _ := rawjson.String(rawjson.Get(e.Definition.Raw, "_meta", "toolfit/operation", "method"))
		d.Path = method + " " + path
	}
	if e.Override == nil {
		return d
	}
	if e.Override.Name != "" {
		d.Name = e.Override.Name
	}
	for _, language := range slices.Sorted(maps.Keys(e.Override.Descriptions)) {
		d.Description += "\n" + e.Override.Descriptions[language]
	}
	return d
}

// maxAbout limits the searchable part of a server's description: it counts for each of its tools.
const maxAbout = 500

// about is a server's description of itself.
func about(s *known) string {
	title, _ := rawjson.String(rawjson.Get(s.offer.Info, "title"))
	text, _ := rawjson.String(rawjson.Get(s.offer.Info, "description"))
	all := strings.TrimSpace(title + "\n" + text)
	return strings.ToValidUTF8(all[:min(len(all), maxAbout)], "")
}

// tags are a tool's tags, from the API's description or from the server.
func tags(e *Entry) []string {
	var list []string
	meta := rawjson.Get(e.Definition.Raw, "_meta")
	for _, key := range []string{"toolfit/operation", "_fastmcp", "fastmcp"} {
		raw := rawjson.Get(meta, key, "tags")
		if len(raw) == 0 || raw[0] != '[' {
			continue
		}
		for w := rawjson.Array(raw); w.Next(); {
			if text, ok := rawjson.String(w.Value); ok && text != "" {
				list = append(list, text)
			}
		}
	}
	return list
}
