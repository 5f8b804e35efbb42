package catalog

import (
	"bytes"
	"cmp"
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/fit"
	"github.com/toolfit/toolfit/internal/core/prompt"
	"github.com/toolfit/toolfit/internal/core/tokens"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
)

// part is what a profile has of one server. It is made when the server's list or the configuration has changed, and views
// share it until then.
type part struct {
	version int // of the server's list
	from    *source
	sees    bool // the profile has the server
	*beside
	all     []*Entry // the tools that the profile may have
	claims  []claim  // their names
	prefers int      // how many prefer another than the prefixed one
	choices []choice // what came of them
	kept    []*Entry // the tools that got a name

	notShown   []NotShown
	withheld   map[string]string // recipes that cannot be called, by their prefixed names, and what to do
	refused    map[string]string // tools whose override cannot be applied, and why
	cuts       bool              // some rule may cut their results
	detaches   bool              // some of them may detach
	tasks      bool              // some run only as tasks
	apps       bool              // some have an app, or are for apps only
	mirrors    bool              // some have arguments that headers repeat
	off        bool              // those that would by default do not
	searched   bool              // they are found by a search, and not listed
	cost       uint64            // of their definitions, all listed, in hundredths of a token; 0: not counted yet
	topics     []string          // what they are about; nil: not found out yet
	searchable *searchable       // its kept tools
	served     bool              // some view has it: its tools are read-only
}

// beside is what a profile has of a server beside its tools.
type beside struct {
	server       tool.ServerID
	prompts      []tool.Definition
	resources    []resource
	templates    []resource
	skills       *skillSet // nil: the server has none
	withheld     []string  // URIs and templates of resources that are held
	apps         []string  // URIs of the pages that its tools name
	readable     bool      // it has resources
	extensions   json.RawMessage
	instructions string
}

// resource is a resource or a template by its URI.
type resource struct {
	uri string
	raw json.RawMessage
}

func (b *beside) equal(other *beside) bool {
	same := func(a, b resource) bool { return a.uri == b.uri && bytes.Equal(a.raw, b.raw) }
	return b.server == other.server && b.readable == other.readable && b.instructions == other.instructions &&
		slices.Equal(b.withheld, other.withheld) && slices.Equal(b.apps, other.apps) && bytes.Equal(b.extensions, other.extensions) &&
		reflect.DeepEqual(b.skills, other.skills) &&
		slices.EqualFunc(b.resources, other.resources, same) && slices.EqualFunc(b.templates, other.templates, same) &&
		slices.EqualFunc(b.prompts, other.prompts, func(a, b tool.Definition) bool { return bytes.Equal(a.Raw, b.Raw) })
}

// newPart decides once, for lists and look-ups alike, what the profile has of a server. Before is the part of its list before; may be nil.
func (f *frame) newPart(k *known, before *part) *part {
	p := &part{version: k.version, from: k.source, sees: access.SeesServer(f.Profile, k.cfg.ID)}
	p.beside = f.beside(k)
	if before != nil && before.beside.equal(p.beside) {
		p.beside = before.beside
	}
	if len(k.offer.Notes) > 0 && p.sees {
		p.refuse(string(k.cfg.ID), "some of what the server lists was left out; toolfit servers says what") // without the server's own words
	}
	f.addTools(p, k)
	p.kept = p.all
	p.searchable = &searchable{}
	p.choices = make([]choice, len(p.all))
	return p
}

// addTools adds a server's tools that the profile may see.
func (f *frame) addTools(p *part, k *known) {
	id := k.cfg.ID
	taken := map[string]bool{} // tools of the environment protocol that are listed under their other name
	detach := config.ResolveDetach(k.cfg.Detach, f.Detach, f.cfg.Detach)
	for _, t := range k.source.tools {
		h, held := k.held[pin{ToolKind, t.def.Name}]
		switch {
		case !p.sees || !access.Sees(f.Profile, id, t.name):
			p.leaveOut(t, NotInProfile)
		case h.out:
			p.leaveOut(t, KeptOut)
		case held:
			p.leaveOut(t, NotApproved)
		case t.twin != "" && taken[t.twin]:
			p.leaveOut(t, SecondName)
		default:
			if t.twin != "" {
				taken[t.twin] = true
			}
			f.addTool(p, t, detach)
		}
	}
}

// addTool adds a tool as the profile's callers see it. If its override cannot be applied it is left
// out: what it binds or hides must not leak.
func (f *frame) addTool(p *part, t *sourceTool, detach config.Detach) {
	e := &Entry{Name: t.name, Server: t.from.id, Definition: t.def, Tasks: t.tasks, Detach: detach, of: t}
	opts := f.content.fit
	opts.Name = t.def.Name
	opts.Known = t.from.like.Tool(t.def.Name)
	opts.Taken = t.taken
	err := t.err
	var own *fit.Tool
	if err == nil {
		own, err = t.fits.With(&opts)
	}
	if e.Override = f.cfg.OverrideFor(f.Name, e.Name); err == nil && e.Override != nil {
		if e.Override.Hidden {
			p.leaveOut(t, Hidden)
			return
		}
		e.Detach = cmp.Or(e.Override.Detach, e.Detach)
		if e.changed, err = e.Override.Apply(e.Definition, own.Schema()); err == nil {
			opts.Override = e.changed
			own, err = own.With(&opts)
		}
	}
	if err != nil {
		p.refuse(string(e.Name), err.Error())
		p.leaveOut(t, BadOverride)
		return
	}
	e.fits = own
	if f.paging {
		e.paged, e.Paged = withPaging(e.InputSchema())
	}
	e.Browser = f.Tests && strings.HasPrefix(t.def.Name, "browser_")
	e.pinned = matches(f.Search.Pinned, string(e.Name))
	e.detach = e.Detach
	rules, _ := f.Results.Rules.MayApply(e.Name, f.Name)
	p.cuts = p.cuts || len(rules) > 0
	p.detaches = p.detaches || e.Detach != config.DetachOff
	p.tasks = p.tasks || t.tasks == "required"
	p.mirrors = p.mirrors || t.mirror != nil
	p.apps = p.apps || t.app.uri != "" || t.app.alone
	names := t.names
	if name := e.preferred(f.Names == "bare"); name != "" {
		names = names.prefer(name)
		p.prefers++
	}
	p.all = append(p.all, e)
	p.claims = append(p.claims, names)
}

func (p *part) leaveOut(t *sourceTool, why Reason) {
	p.notShown = append(p.notShown, NotShown{t.from.id, t.def.Name, why})
}

// refuse notes why something is not shown.
func (p *part) refuse(name, why string) {
	if p.refused == nil {
		p.refused = map[string]string{}
	}
	p.refused[name] = why
}

// named is the part with names chosen, and tools that detach by default or do not.
func (p *part) named(choices []choice, off bool) *part {
	if p.served && slices.Equal(p.choices, choices) && p.off == off {
		return p
	}
	p = p.unserved()
	p.choices = slices.Clone(choices)
	p.off = off
	p.cost = 0
	p.topics = nil
	p.searchable = &searchable{}
	p.kept = p.all
	if slices.Contains(choices, chooseNone) {
		p.kept = nil
	}
	for i, e := range p.all {
		e.Shown = p.claims[i].prefixed
		if choices[i] == choosePreferred {
			e.Shown = p.claims[i].preferred
		}
		e.Detach = e.detach
		if off && e.Detach == config.DetachAuto {
			e.Detach = config.DetachOff
		}
		if len(p.kept) < len(p.all) && choices[i] != chooseNone {
			p.kept = append(p.kept, e)
		}
	}
	return p
}

// listed is the part with its tools listed, or left to a search.
func (p *part) listed(searched bool) *part {
	if p.searched == searched {
		return p
	}
	choices := p.choices
	p = p.unserved()
	p.searched = searched
	for _, e := range p.all {
		e.unlisted = searched && !e.pinned
	}
	if slices.Contains(choices, chooseNone) {
		p.kept = nil
		for i, e := range p.all {
			if choices[i] != chooseNone {
				p.kept = append(p.kept, e)
			}
		}
	}
	return p
}

// unserved is the part, or a copy if some view has it already.
func (p *part) unserved() *part {
	if !p.served {
		return p
	}
	copied := *p
	copied.served = false
	copied.all = make([]*Entry, len(p.all))
	for i, e := range p.all {
		one := *e
		copied.all[i] = &one
	}
	copied.kept = copied.all
	return &copied
}

// tokens is what the list of the part's tools costs, in hundredths of a token, each with a comma.
func (p *part) tokens(v *View) uint64 {
	if p.cost == 0 {
		for _, e := range p.forModels() {
			p.cost += tokens.Hundredths(v.promised(e, e.Raw())) + tokens.Hundredths(",")
		}
	}
	return p.cost
}

// about is what the part's tools are about.
func (p *part) about() []string {
	if p.topics != nil {
		return p.topics
	}
	tools := p.forModels()
	list := make([]prompt.Tool, len(tools))
	for i, e := range tools {
		list[i] = prompt.Tool{Name: e.Shown, Server: string(e.Server), Tags: tags(e)}
	}
	return prompt.Topics(string(p.from.id), list)
}

// withTopics is the part with what its tools are about found out.
func (p *part) withTopics() *part {
	if !p.served {
		p.topics = append([]string{}, p.about()...)
	}
	return p
}

// beside is what the profile has of a server beside its tools.
func (f *frame) beside(k *known) *beside {
	id := k.cfg.ID
	b := &beside{server: id}
	sees := func(name string) bool { return access.Sees(f.Profile, id, tool.Canonical(id, name)) }
	for _, def := range k.prompts() {
		if sees(def.Name) {
			b.prompts = append(b.prompts, def)
		}
	}
	add := func(kind Kind, member string, offered []json.RawMessage) (list []resource) {
		for _, now := range offered {
			uri := textOf(now, member)
			raw := k.approved(pin{kind, uri}, now)
			if raw == nil {
				b.withheld = append(b.withheld, uri)
			} else if sees(uri) {
				list = append(list, resource{uri, raw})
			}
		}
		return list
	}
	b.resources = add(ResourceKind, "uri", k.offer.Resources)
	b.templates = add(TemplateKind, "uriTemplate", k.offer.Templates)
	for _, t := range k.source.tools {
		if _, held := k.held[pin{ToolKind, t.def.Name}]; t.app.uri != "" && !held && sees(t.def.Name) {
			b.apps = append(b.apps, t.app.uri)
		}
	}
	b.skills = f.skills(k)
	b.extensions = rawjson.Get(k.offer.Capabilities, "extensions")
	if !sees("") {
		b.extensions = only(b.extensions, map[string]bool{
			mcp.ExtensionApps: len(b.apps) > 0, mcp.ExtensionSkills: b.skills != nil && len(b.skills.list) > 0,
		})
		return b
	}
	b.readable = rawjson.Get(k.offer.Capabilities, "resources") != nil
	b.instructions = strings.TrimSpace(k.offer.Instructions)
	if h, held := k.held[pin{kind: InstructionsKind}]; held {
		b.instructions, _ = rawjson.String(h.was)
	}
	return b
}

// only are the extensions of a server that the profile has something of.
func only(extensions json.RawMessage, has map[string]bool) json.RawMessage {
	left := json.RawMessage("{}")
	for w := rawjson.Object(extensions); w.Next(); {
		if has[string(w.Key)] {
			left = mcp.With(left, string(w.Key), w.Value)
		}
	}
	return left
}
