package catalog

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/spelling"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/fit"
	"github.com/toolfit/toolfit/internal/core/search"
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

	frame      *frame
	parts      []*part // what it has of each server; nil for one that is not served
	names      nameTable
	own        map[string]*Entry // our own tools, by shown name
	ownNamed   map[tool.Name]*Entry
	beside     *group
	ownPrompt  *Entry // nil: none
	plans      *schema.Cache
	fit        fit.Options
	paging     bool
	recognized []*source         // the known servers
	refused    map[string]string // tools whose override cannot be applied, and why
	missing    map[string]string // servers that did not answer, and why
	eras       eras
	offer      offer
	renders    bool // it is for clients that render apps

	environment environment
}

// onDemand is what a view makes when it is first asked for.
type onDemand struct {
	fittings               sync.Map // schema.Dialect → *Fitting
	finderOnce             sync.Once
	finder                 *Finder
	listOnce               sync.Once
	list                   []byte
	written                written
	byKeyOnce              sync.Once
	byKey                  []*Entry
	lists                  [2]listsOfEra
	whole, reading         sync.Once
	wholeView, readingView *View // with the environment protocol
	narrowing              narrowing
	rendering              sync.Once
	renderingView          *View // for clients that render apps
	rowsOnce               sync.Once
	rows                   []Row
	skillsOnce             sync.Once
	skillIndex             *search.Index
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

	of      *sourceTool     // nil for prompts and our own tools
	fits    *fit.Tool       // fits arguments as the tool itself takes them; nil for prompts
	changed *fit.Overridden // the tool with the override; nil without one
	paged   json.RawMessage // the schema with the arguments for paging; nil without them

	detach   config.Detach // as configured, whether there is something to collect results with or not
	unlisted bool          // it can be called and found, but is not listed
	pinned   bool          // the profile always lists it
}

// ViewFor is what the caller sees in the named profile, without what the policy denies it; "" is its own. Only callers with access
// to all profiles learn which exist.
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
	if err != nil {
		return nil, err
	}
	return v.As(who), nil
}

// Find returns the tool that the profile shows under the name.
func (v *View) Find(shown string) (*Entry, error) {
	if e := v.shown(shown); e != nil {
		return e, nil
	}
	return nil, v.Unknown(shown, nil)
}

// shown is the tool that callers call by the name; nil: there is none.
func (v *View) shown(name string) *Entry {
	if e := v.names.find(v.Entries, name, func(e *Entry) bool { return e.Shown == name }); e != nil {
		return e
	}
	if e := v.own[name]; e != nil {
		return e
	}
	server, raw, _ := tool.Name(name).Split()
	rest, slash := strings.CutPrefix(raw, envSlash)
	if !slash {
		return nil
	}
	if e := v.Named(tool.Canonical(server, envPrefix+rest)); e != nil && e.slash() == raw {
		return e
	}
	if e := v.Named(tool.Name(name)); e != nil && e.slash() == raw {
		return e
	}
	return nil
}

// Named returns the profile's tool with the canonical name; nil: there is none.
func (v *View) Named(name tool.Name) *Entry {
	if e := v.ownNamed[name]; e != nil {
		return e
	}
	server, raw, ok := name.Split()
	if !ok {
		return nil
	}
	// Every tool can be found by its prefixed name, whether it is shown under it or not.
	is := func(e *Entry) bool { return e.Name == name }
	if e := v.names.find(v.Entries, tool.Shown(string(name), server, raw), is); e != nil {
		return e
	}
	underscore := strings.Replace(raw, envSlash, envPrefix, 1)
	return v.names.find(v.Entries, tool.Shown(string(tool.Canonical(server, underscore)), server, raw), is)
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
	if why := v.withheldRecipe(shown); why != "" {
		return err.WithHint("%s", why)
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

// slash is the slash form of an environment protocol tool's name; "" for any other tool.
func (e *Entry) slash() string {
	if e.of == nil {
		return ""
	}
	return e.of.twin
}

// preferred is the name that an entry has unless another has it too; "" for the prefixed one.
func (e *Entry) preferred(bare bool) string {
	switch {
	case e.Override != nil && e.Override.Name != "":
		return e.Override.Name
	case bare:
		return tool.Shown(e.of.listedAs(), e.Server, e.Definition.Name)
	}
	return ""
}
