package catalog

import (
	"strings"

	"github.com/toolfit/toolfit/internal/access"
	"github.com/toolfit/toolfit/internal/config"
	"github.com/toolfit/toolfit/internal/fault"
	"github.com/toolfit/toolfit/internal/tool"
)

// View is what one profile sees. List and look-up are made from the same entries, so what
// may not be called is never shown, and the other way round. It is never changed.
type View struct {
	Profile string
	Entries []*Entry // in the order of the list
	List    []byte   // the result of tools/list, rendered once
	byShown map[string]*Entry
}

// Entry is one tool as a profile sees it.
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

// buildView decides once, for list and call alike, which tools a profile has.
func buildView(p config.Profile, servers []*known) *View {
	v := &View{Profile: p.Name, byShown: map[string]*Entry{}}
	for _, s := range servers {
		for i, def := range s.tools {
			name := tool.Canonical(s.cfg.ID, def.Name)
			if s.held[i] || def.NeedsTask() || !access.Sees(p, s.cfg.ID, name) {
				continue
			}
			v.Entries = append(v.Entries, &Entry{Name: name, Server: s.cfg.ID, Definition: def})
		}
	}
	v.name(p.Names == "bare")
	v.render()
	return v
}

// name gives every entry the name it is shown under.
func (v *View) name(bare bool) {
	// A bare name must be nobody else's, neither bare nor prefixed: server b must not
	// take the name of a's tool by calling its own a__tool.
	count := map[string]int{}
	if bare {
		for _, e := range v.Entries {
			count[tool.Shown(e.Definition.Name, e.Server, e.Definition.Name)]++
			count[tool.Shown(string(e.Name), e.Server, e.Definition.Name)]++
		}
	}
	kept := v.Entries[:0]
	for _, e := range v.Entries {
		raw := e.Definition.Name
		e.Shown = tool.Shown(raw, e.Server, raw)
		if !bare || count[e.Shown] > 1 || reserved[e.Shown] {
			e.Shown = tool.Shown(string(e.Name), e.Server, raw)
		}
		if v.byShown[e.Shown] != nil {
			continue // two hashes are equal: the first keeps the name
		}
		v.byShown[e.Shown] = e
		kept = append(kept, e)
	}
	v.Entries = kept
}

func (v *View) render() {
	size := len(`{"tools":[]}`)
	for _, e := range v.Entries {
		size += len(e.Definition.Raw) + len(e.Shown) + 1
	}
	out := append(make([]byte, 0, size), `{"tools":[`...)
	for i, e := range v.Entries {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, e.Definition.Renamed(e.Shown)...)
	}
	v.List = append(out, "]}"...)
}
