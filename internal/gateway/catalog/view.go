package catalog

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/spelling"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/fit"
	"github.com/toolfit/toolfit/internal/core/project"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/schema"
)

// View is what one profile sees. It is immutable. List and lookup use the same entries: what is shown can be called, and nothing else.
type View struct {
	content
	onDemand
}

// content is a view without what is made on demand, and can be copied.
type content struct {
	Profile      string
	Dialect      schema.Dialect // of the schemas in List; "": the servers' own
	Output       string         // how results are checked against output schemas: off, warn or strict
	Results      Results        // how results are cut for models
	Entries      []*Entry       // the tools, in the order of the list
	Prompts      []*Entry
	Instructions string // the servers' instructions
	Examples     bool   // prompts show arguments of the caller's earlier calls

	// The results of list requests, rendered once.
	List, PromptList, ResourceList, TemplateList []byte

	tools     int // length of the part of List with the tools
	byShown   map[string]*Entry
	byPrompt  map[string]*Entry
	byName    map[tool.Name]*Entry
	owners    map[string]tool.ServerID // of resources, by URI
	templates []ownedTemplate
	withheld  []string        // URIs and templates of resources that are held
	readable  []tool.ServerID // servers that have resources
	plans     *schema.Cache
	fit       fit.Options
	paging    bool
	// recognized are the known servers.
	recognized []recognized
	refused    map[string]string // tools whose override cannot be applied, and why
	notShown   []NotShown
	eras       eras
	offer      offer

	environment environment
}

// onDemand is what a view makes when it is first asked for.
type onDemand struct {
	fittings                 sync.Map // schema.Dialect → *Fitting
	finderOnce               sync.Once
	finder                   *Finder
	legacyOnce, modernOnce   sync.Once
	legacyLists, modernLists Lists
	whole, reading           sync.Once
	wholeView, readingView   *View // with the environment protocol
}

// Entry is one tool or prompt as a profile sees it.
type Entry struct {
	Shown      string // the name that the profile's callers use
	Name       tool.Name
	Server     tool.ServerID
	Definition tool.Definition  // as the server gave it
	Override   *config.Override // the configuration's changes to it; nil: none
	Browser    bool             // a browser tool in a profile for tests: elements may be described
	Own        bool             // it is our own tool, without a server
	Paged      bool             // callers may ask for other fields and pages
	Tasks      string           // whether a legacy server makes tasks of its calls: optional, required, or ""
	Detach     config.Detach    // when its calls go on without their request; 0 for prompts and our own tools: never

	Environment bool // it is our own tool of the environment protocol

	changed *fit.Overridden // the tool with the override; nil without one
	fitters fitters         // unused for prompts
	paged   json.RawMessage // the schema with the arguments for paging; nil without them

	twin     string // the slash form of an environment protocol tool's name; "": not such a tool
	unlisted bool   // it can be called and found, but is not listed
	pinned   bool   // the profile always lists it
}

// ViewFor is what the caller sees in the named profile; "" is its own. Only callers with access to all profiles learn which exist.
func (c *Catalog) ViewFor(who access.Principal, profile string) (*View, error) {
	profile, err := who.ProfileFor(profile)
	if err != nil {
		return nil, err
	}
	v, err := c.View(profile)
	if err != nil && who.Profile == access.AnyProfile {
		const most = 20 // no more fit on a line
		names := slices.Sorted(maps.Keys(*c.views.Load()))
		if len(names) > most {
			names = append(names[:most], "…")
		}
		return nil, fault.As(err).WithHint("there are: %s", strings.Join(names, ", "))
	}
	return v, err
}

// Find returns the tool that the profile shows under the name.
func (v *View) Find(shown string) (*Entry, error) {
	if e := v.byShown[shown]; e != nil {
		return e, nil
	}
	return nil, v.Unknown(shown, nil)
}

// maxNear is how many similar tools the error for an unknown one names.
const maxNear = 3

// Unknown is the error for a name that no tool has, with the nearest tools that the caller may use; a nil may means all.
func (v *View) Unknown(shown string, may func(*Entry) bool) *fault.Error {
	err := fault.New(fault.UnknownTool, "unknown tool: %.100s", shown)
	server, _, _ := strings.Cut(shown, "__")
	if reason := v.environment.failed[server]; reason != "" && !v.has(tool.ServerID(server)) {
		return err.WithHint("the tools of %s are not known: %s", server, reason)
	}
	var near []string
	for _, e := range v.Entries { // which no search finds
		if e.Own && (may == nil || may(e)) && spelling.Edits(shown, e.Shown, maxNear) < maxNear {
			near = append(near, e.Shown)
		}
	}
	f := v.Finder()
	for _, i := range f.Index.Near(shown, maxNear, func(i int) bool { return may == nil || may(f.Entries[i]) }) {
		near = append(near, f.Entries[i].Shown)
	}
	if len(near) == 0 {
		return err
	}
	return err.WithHint("did you mean %s?", strings.Join(near[:min(len(near), maxNear)], ", "))
}

// has tells whether the profile has a tool of the server.
func (v *View) has(id tool.ServerID) bool {
	return slices.ContainsFunc(v.Entries, func(e *Entry) bool { return e.Server == id && !e.Own })
}

// shared is what all views have in common.
type shared struct {
	plans *schema.Cache
	rules *project.Rules
	own   *OwnTools
	names map[string]bool  // of our own tools
	old   map[string]*View // the previous views, by profile
}

// buildView decides once, for lists and look-ups alike, what a profile has.
func buildView(cfg *config.Config, p config.Profile, servers []*known, made shared) *View {
	v := &View{content: content{
		Profile: p.Name, Dialect: schema.Dialect(p.Dialect), Output: p.Output, owners: map[string]tool.ServerID{}, plans: made.plans,
		paging: p.Paging,
	}}
	v.Results = resultsOf(cfg, p, made.rules)
	v.Examples = p.Search.Examples
	v.offer.about = map[tool.ServerID]string{}
	v.fit = fit.Options{Validation: fit.Validation(p.Validation), Without: p.Without}
	resources := newList("resources")
	templates := newList("resourceTemplates")
	for _, s := range servers {
		id := s.cfg.ID
		if s.like != nil && access.SeesServer(p, id) {
			v.recognized = append(v.recognized, recognized{id, s.like})
		}
		if len(s.offer.Notes) > 0 && access.SeesServer(p, id) {
			v.refuse(string(id), "some of what the server lists was left out; toolfit servers says what") // without the server's own words
		}
		v.addTools(cfg, p, s, made.names)
		for _, def := range s.prompts() {
			if name := tool.Canonical(id, def.Name); access.Sees(p, id, name) {
				v.Prompts = append(v.Prompts, &Entry{Name: name, Server: id, Definition: def})
			}
		}
		v.addResources(p, s, resources, templates)
		v.addInstructions(p, s)
		v.offer.about[id] = about(s)
	}
	bare := p.Names == "bare"
	v.Entries, v.byShown = named(v.Entries, bare, made.names)
	v.Prompts, v.byPrompt = named(v.Prompts, bare, reservedPrompts)
	v.byName = make(map[tool.Name]*Entry, len(v.Entries))
	for _, e := range v.Entries {
		v.byName[e.Name] = e
	}
	v.addFetch(p, made.own.Fetch)
	v.environment.tools = made.own.Env
	v.environment.of = p
	v.environment.failed = missing(p, servers)
	if p.Environment.Listed {
		v.addEnvironment(p, made.own.Env)
	}
	v.addTests(p, made.own.Tests)
	v.chooseOffer(p, made.own, made.old[p.Name])
	v.addForAgents(cfg, p, made.own.Fetch)
	v.addPrompt(p)
	v.List = v.renderTools()
	v.PromptList = render("prompts", v.Prompts)
	v.tools = len(v.List) - 1
	v.List = addNotes(v.List, v.environment.failed, v.setAside())
	v.ResourceList = resources.bytes()
	v.TemplateList = templates.bytes()
	return v
}

// named gives every entry the name it is shown under, and drops only those whose hashes collide.
func named(entries []*Entry, bare bool, reserved map[string]bool) ([]*Entry, map[string]*Entry) {
	// A bare name must be unique among bare and prefixed names: server b must not take over a's tool by calling its own a__tool.
	count := map[string]int{}
	for _, e := range entries {
		count[e.prefixed()]++
		if name := e.preferred(bare); name != "" {
			count[name]++
		}
	}
	byShown := make(map[string]*Entry, len(entries))
	kept := entries[:0]
	for _, e := range entries {
		e.Shown = e.preferred(bare)
		if e.Shown == "" || count[e.Shown] > 1 || reserved[e.Shown] {
			e.Shown = e.prefixed()
		}
		if byShown[e.Shown] == nil {
			byShown[e.Shown] = e
			kept = append(kept, e)
		}
	}
	for _, e := range kept {
		if name := string(tool.Canonical(e.Server, e.twin)); e.twin != "" && byShown[name] == nil {
			byShown[name] = e
		}
	}
	return kept, byShown
}

// prefixed is an entry's name with its server's as a prefix.
func (e *Entry) prefixed() string {
	return tool.Shown(string(tool.Canonical(e.Server, e.listedAs())), e.Server, e.Definition.Name)
}

// listedAs is the server's name for the tool; of the two names in the environment protocol, the one that every provider accepts.
func (e *Entry) listedAs() string {
	if e.twin != "" {
		return envPrefix + strings.TrimPrefix(e.twin, envSlash)
	}
	return e.Definition.Name
}

// preferred is the name that an entry has unless another has it too; "" for the prefixed one.
func (e *Entry) preferred(bare bool) string {
	switch {
	case e.Override != nil && e.Override.Name != "":
		return e.Override.Name
	case bare:
		return tool.Shown(e.listedAs(), e.Server, e.Definition.Name)
	}
	return ""
}

func render(member string, entries []*Entry) []byte {
	l := newList(member)
	for _, e := range entries {
		l.add(e.Raw())
	}
	return l.bytes()
}

// list builds the result of a list request.
type list struct{ out []byte }

func newList(member string) *list { return &list{out: []byte(`{"` + member + `":[`)} }

func (l *list) add(item []byte) { l.out = append(mcp.Comma(l.out), item...) }

func (l *list) bytes() []byte { return append(l.out, "]}"...) }

// addNotes adds the servers that were unavailable and the tools that were left out to a list, with the reasons.
func addNotes(list []byte, missing, aside map[string]string) []byte {
	notes := map[string]map[string]string{}
	if len(missing) > 0 {
		notes["toolfit/unavailable"] = missing
	}
	if len(aside) > 0 {
		notes["toolfit/setAside"] = aside
	}
	if len(notes) == 0 {
		return list
	}
	meta, _ := json.Marshal(notes) // strings only
	list = append(list[:len(list)-1], `,"_meta":`...)
	return append(append(list, meta...), '}')
}

// missing returns why servers did not answer.
func missing(p config.Profile, servers []*known) map[string]string {
	reasons := map[string]string{}
	for _, s := range servers {
		if s.reason != "" && access.SeesServer(p, s.cfg.ID) {
			reasons[string(s.cfg.ID)] = s.reason
		}
	}
	return reasons
}

// changes are the lists that differ between two views of a profile.
func (v *View) changes(now *View) (changed []change) {
	if !bytes.Equal(v.List[:v.tools], now.List[:now.tools]) {
		changed = append(changed, change{v.Profile, "tools"})
	}
	if !bytes.Equal(v.PromptList, now.PromptList) {
		changed = append(changed, change{v.Profile, "prompts"})
	}
	if !bytes.Equal(v.ResourceList, now.ResourceList) || !bytes.Equal(v.TemplateList, now.TemplateList) {
		changed = append(changed, change{v.Profile, "resources"})
	}
	return changed
}
