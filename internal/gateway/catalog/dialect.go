package catalog

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/schema"
)

// Fitting is a view's tools as the provider of a dialect takes them.
type Fitting struct {
	Tools []schema.Fitted // parallel to the view's Entries; one with an Error is left out

	once    sync.Once
	byShown map[string]*schema.Fitted
	fitters sync.Map // *Entry → *fit.Tool, for arguments in the dialect
}

// For returns the tools in a dialect. The result is cached.
func (v *View) For(d schema.Dialect) (*Fitting, error) {
	if err := CheckDialect(d); err != nil {
		return nil, err
	}
	kept, _ := v.fittings.LoadOrStore(d, new(Fitting))
	f := kept.(*Fitting)
	f.once.Do(func() { f.fill(v, d) })
	return f, nil
}

// One returns one tool in a known dialect, as if it were the only one.
func (v *View) One(e *Entry, d schema.Dialect) schema.Fitted {
	return v.fitAll([]*Entry{e}, d)[0]
}

// fitAll returns some tools in a known dialect, as if there were no others.
func (v *View) fitAll(entries []*Entry, d schema.Dialect) []schema.Fitted {
	tools := make([]schema.Tool, len(entries))
	for i, e := range entries {
		tools[i] = schema.Tool{Name: e.Shown, Description: e.Description(), InputSchema: e.InputSchema()}
	}
	return v.plans.Fit(tools, d)
}

// CheckDialect refuses names that no dialect has.
func CheckDialect(d schema.Dialect) error {
	if d.Known() {
		return nil
	}
	var names []string
	for name := range schema.Dialects() {
		names = append(names, string(name))
	}
	slices.Sort(names)
	return fault.New(fault.BadRequest, "there is no dialect %.40q", string(d)).WithHint("choose one of %s", strings.Join(names, ", "))
}

func (f *Fitting) fill(v *View, d schema.Dialect) {
	f.Tools = v.fitAll(v.Entries, d)
	f.byShown = make(map[string]*schema.Fitted, len(f.Tools))
	for i := range f.Tools {
		f.byShown[f.Tools[i].Name] = &f.Tools[i]
	}
}

// Tool is the tool that the view shows under the name; nil without one.
func (f *Fitting) Tool(shown string) *schema.Fitted { return f.byShown[shown] }

// withSchema is the definition as it is shown, with the schema of a dialect.
func (e *Entry) withSchema(parameters json.RawMessage) []byte {
	def := e.Definition
	if e.changed != nil {
		if changed, err := tool.ParseDefinition(e.changed.Definition); err == nil {
			def = changed
		}
	}
	return def.Shown(e.Shown, parameters)
}

// setAside are the reasons why some tools are missing: a bad override, a dialect that cannot express them, or a server that lists too much.
func (v *View) setAside() map[string]string {
	if v.Dialect == "" {
		return v.refused
	}
	reasons := maps.Clone(v.refused)
	if reasons == nil {
		reasons = map[string]string{}
	}
	if f, err := v.For(v.Dialect); err == nil {
		for _, t := range f.Tools {
			if t.Error != nil {
				reasons[t.Name] = t.Error.Error()
			}
		}
	}
	return reasons
}
