package catalog

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/fit"
	"github.com/toolfit/toolfit/internal/core/policy"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/schema"
)

// frame is what all views of a profile have in common until the configuration changes.
type frame struct {
	config.Profile
	content // what each of its views begins with
	cfg     *config.Config
	own     *OwnTools
	ownName map[string]bool // the names of our own tools
	policy  *policy.Set     // nil: there are no rules
}

// newFrame makes the frame of a profile.
func (c *Catalog) newFrame(p config.Profile, own map[string]bool) *frame {
	f := &frame{Profile: p, cfg: c.config, own: &c.opts.Own, ownName: own, policy: c.policy}
	f.content = content{
		Profile: p.Name, Dialect: schema.Dialect(p.Dialect), Output: p.Output, Results: resultsOf(c.config, p, c.rules),
		Examples: p.Search.Examples, frame: f, plans: c.plans, paging: p.Paging,
		fit: fit.Options{Validation: fit.Validation(p.Validation), Without: p.Without},
	}
	f.content.eras.self = c.opts.Self
	f.content.environment = environment{tools: c.opts.Own.Env, of: p}
	return f
}

// joiner joins parts to views. What it needs in between is used again for the next view.
type joiner struct {
	servers []*known
	foreign []bool // those whose lists may not be served
	claims  []*claim
	names   int // how many names they claim in all
	choices []choice
}

// join makes the view of a profile from what it has of each server. Only what has changed since before, its last view, is made
// anew; may be nil.
func (j *joiner) join(f *frame, before *View) *View {
	v := &View{content: f.content}
	same := before != nil && before.frame == f
	v.parts = make([]*part, len(j.servers))
	j.claims = j.claims[:0]
	j.names = 0
	for i, k := range j.servers {
		if j.foreign[i] {
			continue
		}
		var was *part
		if same {
			was = before.parts[i]
		}
		stale := was == nil || was.version != k.version
		if k.cfg.ID == Recipes { // the last server, so that the tools of the others are known
			stale = stale || !slices.Equal(v.parts[:i], before.parts[:i])
		}
		if stale {
			was = f.newPart(k, was)
			was.dropRecipes(v.parts[:i])
		}
		v.parts[i] = was
		j.names += len(was.claims) + was.prefers
		for n := range was.claims {
			j.claims = append(j.claims, &was.claims[n])
		}
	}
	v.own = map[string]*Entry{}
	v.ownNamed = map[tool.Name]*Entry{}
	j.addTools(v, before)
	v.addBeside(before)
	v.addPrompt(f.Profile)
	v.addMissing(j.servers)
	v.addEras()
	for _, p := range v.parts {
		if p != nil {
			p.served = true
		}
	}
	return v
}

// addTools adds the servers' tools, and our own after them.
func (j *joiner) addTools(v *View, before *View) {
	f := v.frame
	j.choices = slices.Grow(j.choices[:0], len(j.claims))[:len(j.claims)]
	v.names = chooseNames(j.claims, j.names, f.ownName, j.choices)
	fetches := v.addFetch(f.Profile, f.own.Fetch, len(j.claims))
	at := 0
	for i, p := range v.parts {
		if p != nil {
			v.parts[i] = p.named(j.choices[at:at+len(p.all)], !fetches)
			at += len(p.all)
		}
	}
	if slices.Contains(j.choices, chooseNone) {
		v.names.drop(j.choices)
	}
	if f.Environment.Listed {
		v.addEnvironment(f.Profile, f.own.Env)
	}
	if f.Tests {
		for _, def := range f.own.Tests {
			v.addOwn(f.Profile, def)
		}
	}
	v.chooseOffer(f.Profile, f.own, before)
	v.addForAgents(f.cfg, f.Profile, f.own.Fetch)
	v.Entries = v.together(len(j.claims))
}

// together are the tools of the parts, followed by our own, which Entries has until then.
func (v *View) together(most int) []*Entry {
	all := make([]*Entry, 0, most+len(v.Entries))
	for _, p := range v.parts {
		if p != nil {
			all = append(all, p.kept...)
		}
	}
	return append(all, v.Entries...)
}

// addMissing notes which servers did not answer or left something out, and which are known.
func (v *View) addMissing(servers []*known) {
	v.missing = map[string]string{}
	for i, p := range v.parts {
		if p == nil || !p.sees {
			continue
		}
		if reason := servers[i].reason; reason != "" {
			v.missing[string(p.from.id)] = reason
		}
		if p.from.like != nil {
			v.recognized = append(v.recognized, p.from)
		}
		for name, why := range p.refused {
			if v.refused == nil {
				v.refused = map[string]string{}
			}
			v.refused[name] = why
		}
	}
	v.environment.failed = v.missing
}

// addEras notes which of the profile's servers are modern and what follows.
func (v *View) addEras() {
	v.eras.ttl = keepFor
	for _, p := range v.parts {
		if p == nil || !p.sees {
			continue
		}
		if p.from.modern {
			v.eras.modern = true
			if p.from.ttl >= 0 {
				v.eras.ttl = min(v.eras.ttl, p.from.ttl)
			}
		}
		v.eras.tasks = v.eras.tasks || p.tasks
		v.eras.mirrors = v.eras.mirrors || p.mirrors
	}
}

// changes are the lists that differ between two views of a profile. Other rules may change all of them, for some callers.
func (v *View) changes(now *View) (changed []change) {
	if !v.sameRules(now) {
		return []change{{v.Profile, "tools"}, {v.Profile, "prompts"}, {v.Profile, "resources"}}
	}
	apps := v.ForApps() != v || now.ForApps() != now
	if !v.sameTools(now) || apps && !v.ForApps().sameTools(now.ForApps()) {
		changed = append(changed, change{v.Profile, "tools"})
	}
	if (v.beside != now.beside || v.ownPrompt != now.ownPrompt) && !sameItems(v.items(PromptKind), now.items(PromptKind)) {
		changed = append(changed, change{v.Profile, "prompts"})
	}
	differs := func(kind Kind) bool { return !sameItems(v.items(kind), now.items(kind)) }
	if v.beside != now.beside && slices.ContainsFunc([]Kind{ResourceKind, TemplateKind, SkillKind}, differs) {
		changed = append(changed, change{v.Profile, "resources"})
	}
	return changed
}

// sameTools tells whether two views of a profile list the same tools. Only parts that differ are rendered.
func (v *View) sameTools(now *View) bool {
	if v.frame != now.frame || v.Dialect.CountsTools() || !maps.Equal(v.beside.moved, now.beside.moved) {
		return sameItems(v.items(ToolKind), now.items(ToolKind))
	}
	first := 0
	for first < len(v.parts) && v.parts[first] == now.parts[first] {
		first++
	}
	end := len(v.parts)
	for end > first && v.parts[end-1] == now.parts[end-1] {
		end--
	}
	return sameItems(v.itemsOf(v.between(first, end)), now.itemsOf(now.between(first, end)))
}

// between are our own tools, and those of some parts.
func (v *View) between(first, end int) []*Entry {
	var list []*Entry
	for _, p := range v.parts[first:end] {
		if p != nil {
			list = append(list, p.kept...)
		}
	}
	for _, e := range slices.Backward(v.Entries) {
		if !e.Own {
			break
		}
		list = append(list, e)
	}
	return list
}

// group is what a view has beside its tools. Views share it until something in it changes.
type group struct {
	from         []*beside // nil for a server that is not served
	prompts      []*Entry
	byPrompt     map[string]*Entry
	owners       map[string]tool.ServerID // of resources, by URI
	resources    []resource
	templates    []ownedTemplate
	skills       []*skill
	withSkills   map[string]*beside // the servers that have skills, by their names in URIs; nil: none
	withheld     []string
	readable     []tool.ServerID                       // servers that have resources
	moved        map[appPage]string                    // URIs of pages that an earlier server has too; nil: none
	original     map[string]string                     // the other way round
	settings     map[string]map[string]json.RawMessage // of all servers' extensions, by their names
	extensions   json.RawMessage                       // the same as JSON; nil: none
	extended     []tool.ServerID                       // servers that have some, beside apps, skills and tasks
	instructions string
}

// addBeside adds prompts, resources and instructions, from the view before if they are the same.
func (v *View) addBeside(before *View) {
	from := make([]*beside, len(v.parts))
	for i, p := range v.parts {
		if p != nil {
			from[i] = p.beside
		}
	}
	if before != nil && before.frame == v.frame && slices.Equal(before.beside.from, from) {
		v.beside = before.beside
	} else {
		v.beside = newGroup(from, v.frame.Names == "bare")
	}
	v.Prompts = slices.Clip(v.beside.prompts)
	v.Instructions = v.beside.instructions
}

func newGroup(from []*beside, bare bool) *group {
	g := &group{from: from, byPrompt: map[string]*Entry{}, owners: map[string]tool.ServerID{}}
	var claims []*claim
	var said strings.Builder
	for _, b := range from {
		if b != nil {
			g.addSkills(b)
		}
	}
	for _, b := range from {
		if b == nil {
			continue
		}
		for _, def := range b.prompts {
			e := &Entry{Name: tool.Canonical(b.server, def.Name), Server: b.server, Definition: def}
			c := claim{prefixed: tool.Shown(string(e.Name), b.server, def.Name)}
			c.prefixedHash = hashOf(c.prefixed)
			if bare {
				c = c.prefer(tool.Shown(def.Name, b.server, def.Name))
			}
			g.prompts = append(g.prompts, e)
			claims = append(claims, &c)
		}
		g.addResources(b)
		g.addApps(b)
		g.addExtensions(b)
		if b.instructions != "" {
			if said.Len() > 0 {
				said.WriteString("\n\n")
			}
			said.WriteString("# " + string(b.server) + "\n" + b.instructions)
		}
	}
	g.instructions = said.String()
	if g.settings != nil {
		g.extensions = rawjson.Encode(g.settings)
	}
	g.namePrompts(claims)
	return g
}

// namePrompts gives every prompt the name it is shown under.
func (g *group) namePrompts(claims []*claim) {
	choices := make([]choice, len(claims))
	chooseNames(claims, 2*len(claims), reservedPrompts, choices)
	kept := g.prompts[:0]
	for i, e := range g.prompts {
		switch choices[i] {
		case chooseNone:
			continue
		case choosePreferred:
			e.Shown = claims[i].preferred
		default:
			e.Shown = claims[i].prefixed
		}
		g.byPrompt[e.Shown] = e
		kept = append(kept, e)
	}
	g.prompts = kept
}
