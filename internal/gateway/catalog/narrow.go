package catalog

import (
	"bytes"
	"maps"
	"reflect"
	"slices"
	"sync"

	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/policy"
	"github.com/toolfit/toolfit/internal/state/access"
)

// Limits of what a view remembers of its callers. Beyond them it starts over.
const (
	maxNarrowed = 32
	maxCallers  = 1000
)

// narrowing is what callers of a view see of it.
type narrowing struct {
	mu       sync.Mutex
	byCaller map[string]*View // by what rules see of the caller
	byHidden map[string]*View // by what is hidden
}

// As is the view without what the policy denies to the caller whatever the arguments are: the view itself where that is
// nothing. It is for lists, searches and texts. Calls are looked up in the whole view, so that a denied one is told why.
func (v *View) As(who access.Principal) *View {
	if !v.Ruled() {
		return v
	}
	w := Caller(who)
	signature := v.frame.policy.Signature(&w)
	n := &v.narrowing
	n.mu.Lock()
	seen := n.byCaller[signature]
	n.mu.Unlock()
	if seen != nil {
		return seen
	}
	hides := v.hides(w)
	n.mu.Lock()
	defer n.mu.Unlock()
	seen = v
	if bytes.IndexByte(hides, 1) >= 0 {
		seen = n.byHidden[string(hides)]
	}
	if n.byCaller == nil || len(n.byCaller) >= maxCallers || seen == nil && len(n.byHidden) >= maxNarrowed {
		n.byCaller = map[string]*View{}
		n.byHidden = map[string]*View{}
	}
	if seen == nil {
		seen = v.without(hides)
		n.byHidden[string(hides)] = seen
	}
	n.byCaller[signature] = seen
	return seen
}

// hides has a 1 for each thing of the view that is hidden from a caller: tools, tools that are refused, prompts,
// templates, resources and skills, in their order.
func (v *View) hides(w policy.Who) []byte {
	about := policy.Call{Profile: v.Profile, Closed: v.frame.Closed, Who: w, AnyTime: true}
	var hides []byte
	add := func(hidden bool) {
		mark := byte(0)
		if hidden {
			mark = 1
		}
		hides = append(hides, mark)
	}
	decide := func(t policy.Tool) policy.Decision {
		about.Tool = t
		return v.frame.policy.Decide(&about)
	}
	denied := map[tool.Name]bool{}
	for _, p := range v.parts {
		if p == nil {
			continue
		}
		first := len(hides)
		for _, e := range p.kept {
			no := decide(e.PolicyTool()).Verdict == policy.Deny
			add(no)
			if no {
				denied[e.Name] = true
			}
		}
		for i, e := range p.kept {
			if slices.ContainsFunc(e.Uses(), func(u Used) bool { return denied[u.Name] }) { // a recipe, whose server is the last one
				hides[first+i] = 1
			}
		}
	}
	for _, t := range v.refusedTools() {
		add(decide(policyTool(t.from.id, t.name, t.def)).Verdict == policy.Deny)
	}
	for _, e := range v.beside.prompts {
		d := decide(e.PolicyPrompt())
		add(refuses(&d))
	}
	for _, t := range v.beside.templates {
		d := decide(PolicyResource(t.server))
		add(refuses(&d))
	}
	for _, r := range v.beside.resources {
		about.Args = URIArgs(v.Original(r.uri))
		server := v.beside.owners[r.uri]
		d := decide(PolicyResource(server))
		hidden := refuses(&d)
		if skill := v.SkillOf(server, v.Original(r.uri)); skill != "" && !hidden {
			about.Args = URIArgs(skill)
			d = decide(PolicySkill(server))
			hidden = refuses(&d)
		}
		add(hidden)
	}
	for _, s := range v.beside.skills {
		about.Args = URIArgs(s.original)
		d := decide(PolicySkill(s.server))
		add(refuses(&d))
	}
	return hides
}

// refusedTools are those whose override cannot be applied: lists name them.
func (v *View) refusedTools() (list []*sourceTool) {
	for _, p := range v.parts {
		if p == nil || len(p.refused) == 0 {
			continue
		}
		for _, t := range p.from.tools {
			if _, refused := v.refused[string(t.name)]; refused {
				list = append(list, t)
			}
		}
	}
	return list
}

// without is the view without what hides has a 1 for.
func (v *View) without(hides []byte) *View {
	n := &View{content: v.content}
	n.parts = slices.Clone(v.parts)
	n.names = nameTable{slices.Clone(v.names.slots)}
	var choices []choice
	for i, p := range v.parts {
		if p == nil {
			continue
		}
		for _, hidden := range hides[:len(p.kept)] {
			choices = append(choices, [...]choice{choosePrefixed, chooseNone}[hidden])
		}
		n.parts[i] = p.without(hides[:len(p.kept)])
		hides = hides[len(p.kept):]
	}
	n.names.drop(choices)
	n.refused = maps.Clone(v.refused)
	for _, t := range v.refusedTools() {
		if hides[0] == 1 {
			delete(n.refused, string(t.name))
		}
		hides = hides[1:]
	}
	n.addOwnOf(v, len(choices))
	g := *v.beside
	g.prompts, hides = shownOf(g.prompts, hides)
	g.templates, hides = shownOf(g.templates, hides)
	g.resources, hides = shownOf(g.resources, hides)
	g.skills, _ = shownOf(g.skills, hides)
	n.beside = &g
	n.Prompts = slices.Concat(g.prompts, v.Prompts[len(v.beside.prompts):])
	return n
}

// without is the part without some of its tools.
func (p *part) without(hides []byte) *part {
	if bytes.IndexByte(hides, 1) < 0 {
		return p
	}
	n := *p
	n.kept, _ = shownOf(p.kept, hides)
	n.notShown = slices.Clip(p.notShown)
	for i, e := range p.kept {
		if hides[i] == 1 {
			n.leaveOut(e.of, Denied)
		}
	}
	n.searchable = &searchable{}
	n.cost = 0
	n.topics = nil
	if p.topics != nil {
		n.topics = append([]string{}, n.about()...)
	}
	return &n
}

// shownOf are those of a list that are not hidden, and the marks of what comes after it.
func shownOf[T any](list []T, hides []byte) (shown []T, rest []byte) {
	for i, one := range list {
		if hides[i] == 0 {
			shown = append(shown, one)
		}
	}
	return shown, hides[len(list):]
}

// addOwnOf adds the tools of the parts, and our own as the whole view has them after its first so many. The search says what
// there is to find.
func (n *View) addOwnOf(v *View, servers int) {
	f := v.frame
	found := map[string][]byte{}
	if v.offer.search && f.own.Search != nil {
		for _, def := range f.own.Search(n.Overview()) {
			found[textOf(def, "name")] = def
		}
	}
	n.own = maps.Clone(v.own)
	n.ownNamed = maps.Clone(v.ownNamed)
	n.Entries = nil
	for _, e := range v.Entries[servers:] {
		def, searches := found[e.Shown]
		if !searches || bytes.Equal(def, e.Definition.Raw) {
			n.Entries = append(n.Entries, e)
		} else if told := n.addOwn(f.Profile, def); told != nil {
			told.unlisted = e.unlisted
		}
	}
	n.Entries = n.together(servers)
}

// sameRules tells whether the same rules hold in two views of a profile.
func (v *View) sameRules(now *View) bool {
	a, b := v.frame, now.frame
	return a == b || a.Closed == b.Closed && reflect.DeepEqual(a.rules(), b.rules())
}

// rules are those about the profile, wherever they are in the configuration.
func (f *frame) rules() (list []policy.Rule) {
	for _, r := range f.policy.Rules() {
		if r.Profiles == nil || slices.Contains(r.Profiles, f.Name) {
			rule := *r
			rule.Line = 0
			list = append(list, rule)
		}
	}
	return list
}
