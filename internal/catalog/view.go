package catalog

import (
	"bytes"
	"encoding/json"
	"strings"
	"sync"

	"github.com/toolfit/toolfit/internal/access"
	"github.com/toolfit/toolfit/internal/config"
	"github.com/toolfit/toolfit/internal/fault"
	"github.com/toolfit/toolfit/internal/tool"
	"github.com/toolfit/toolfit/schema"
)

// View is what one profile sees. List and look-up are made from the same entries, so what
// may not be called is never shown, and the other way round. It is never changed.
type View struct {
	Profile      string
	Dialect      schema.Dialect // whose schemas List shows; "" for those of the servers
	Entries      []*Entry       // the tools, in the order of the list
	Prompts      []*Entry
	Instructions string // what the servers say about their use

	// The results of list requests, rendered once.
	List, PromptList, ResourceList, TemplateList []byte

	tools     int // length of the part of List that says which tools there are
	byShown   map[string]*Entry
	byPrompt  map[string]*Entry
	owners    map[string]tool.ServerID // of resources, by URI
	templates []ownedTemplate
	readable  []tool.ServerID // servers that have resources
	plans     *schema.Cache
	fittings  sync.Map // schema.Dialect → *Fitting, each made when it is first asked for
}

// Entry is one tool or prompt as a profile sees it.
type Entry struct {
	Shown      string // the name that the profile's callers use
	Name       tool.Name
	Server     tool.ServerID
	Definition tool.Definition
}

// reserved are the names of our own tools. An upstream tool of such a name is prefixed.
var reserved = map[string]bool{
	"fetch_result": true, "find_tools": true, "describe_tool": true, "call_tool": true, "run_steps": true, "find_element": true,
}

// Find returns the tool that the profile shows under the name.
func (v *View) Find(shown string) (*Entry, error) {
	if e := v.byShown[shown]; e != nil {
		return e, nil
	}
	err := fault.New(fault.UnknownTool, "unknown tool: %.100s", shown)
	if near := v.nearest(shown); near != "" {
		return nil, err.WithHint("did you mean %s?", near)
	}
	return nil, err
}

// nearest is a tool whose own name is the one asked for, or close to it; "" without one.
func (v *View) nearest(shown string) string {
	want := strings.ToLower(shown)
	best, bestDistance := "", 1+len(want)/4
	for _, e := range v.Entries {
		name, raw := strings.ToLower(e.Shown), strings.ToLower(e.Definition.Name)
		if raw == want || name == want {
			return e.Shown
		}
		if d := min(distance(want, name, bestDistance), distance(want, raw, bestDistance)); d < bestDistance {
			best, bestDistance = e.Shown, d
		}
	}
	return best
}

// distance counts the edits between a and b; anything from limit on is limit.
func distance(a, b string, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit || len(a) > 128 || len(b) > 128 {
		return limit
	}
	prev := make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := range len(a) {
		diagonal := prev[0]
		prev[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, prev[j], prev[j+1])
			}
			diagonal, prev[j+1] = prev[j+1], cost
		}
	}
	return min(prev[len(b)], limit)
}

// buildView decides once, for lists and look-ups alike, what a profile has.
func buildView(p config.Profile, servers []*known, plans *schema.Cache) *View {
	v := &View{Profile: p.Name, Dialect: schema.Dialect(p.Dialect), owners: map[string]tool.ServerID{}, plans: plans}
	resources, templates := newList("resources"), newList("resourceTemplates")
	for _, s := range servers {
		id := s.cfg.ID
		for i, def := range s.offer.Tools {
			name := tool.Canonical(id, def.Name)
			if !s.held[i] && !def.NeedsTask() && access.Sees(p, id, name) {
				v.Entries = append(v.Entries, &Entry{Name: name, Server: id, Definition: def})
			}
		}
		for _, def := range s.offer.Prompts {
			if name := tool.Canonical(id, def.Name); access.Sees(p, id, name) {
				v.Prompts = append(v.Prompts, &Entry{Name: name, Server: id, Definition: def})
			}
		}
		v.addResources(p, s, resources, templates)
		v.addInstructions(p, s)
	}
	bare := p.Names == "bare"
	v.Entries, v.byShown = named(v.Entries, bare)
	v.Prompts, v.byPrompt = named(v.Prompts, bare)
	v.List, v.PromptList = v.renderTools(), render("prompts", v.Prompts)
	v.tools = len(v.List) - 1
	v.List = addNotes(v.List, missing(p, servers), v.setAside())
	v.ResourceList, v.TemplateList = resources.bytes(), templates.bytes()
	return v
}

// named gives every entry the name it is shown under, and drops none but those whose hashes are equal.
func named(entries []*Entry, bare bool) ([]*Entry, map[string]*Entry) {
	// A bare name must be nobody else's, neither bare nor prefixed: server b must not
	// take the name of a's tool by calling its own a__tool.
	count := map[string]int{}
	if bare {
		for _, e := range entries {
			count[tool.Shown(e.Definition.Name, e.Server, e.Definition.Name)]++
			count[tool.Shown(string(e.Name), e.Server, e.Definition.Name)]++
		}
	}
	byShown := make(map[string]*Entry, len(entries))
	kept := entries[:0]
	for _, e := range entries {
		raw := e.Definition.Name
		e.Shown = tool.Shown(raw, e.Server, raw)
		if !bare || count[e.Shown] > 1 || reserved[e.Shown] {
			e.Shown = tool.Shown(string(e.Name), e.Server, raw)
		}
		if byShown[e.Shown] == nil {
			byShown[e.Shown] = e
			kept = append(kept, e)
		}
	}
	return kept, byShown
}

func render(member string, entries []*Entry) []byte {
	l := newList(member)
	for _, e := range entries {
		l.add(e.Definition.Renamed(e.Shown))
	}
	return l.bytes()
}

// list is the result of a list request while it is put together.
type list struct{ out []byte }

func newList(member string) *list { return &list{out: []byte(`{"` + member + `":[`)} }

func (l *list) add(item []byte) {
	if l.out[len(l.out)-1] != '[' {
		l.out = append(l.out, ',')
	}
	l.out = append(l.out, item...)
}

func (l *list) bytes() []byte { return append(l.out, "]}"...) }

// addNotes names, beside the tools, the servers that were not there when they were last
// asked and the tools that the dialect cannot carry: a client can see what is missing and why.
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

// missing are the reasons of the servers that did not answer.
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
