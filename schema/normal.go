package schema

import (
	"slices"

	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

// reader turns the nodes of one document into forms.
type reader struct {
	tree
	root    *node
	flavor  Flavor
	degrade bool // references to other documents accept anything
	index   *jsonschema.Index
	report  []seen
	pairs   map[[2]*form]*form
	forms   []form
	byNode  []*form // forms by node ID, created on demand
	surveys int32   // number of surveys so far
	size    int     // bytes of the document
	work    int     // spent on merging
	gaveUp  bool    // merging was given up
	rewrite bool    // a keyword differs from JSON Schema and must be rewritten
	err     *Error
}

// seen is a Change with its node. The pointer is computed only if the attempt succeeds.
type seen struct {
	at     *node
	kind   Kind
	action string
}

func (r *reader) change(n *node, kind Kind, action string) {
	r.report = append(r.report, seen{n, kind, action})
}

// changes computes the pointers of reports.
func changes(reports ...[]seen) []Change {
	var out []Change
	for _, report := range reports {
		out = slices.Grow(out, len(report))
		for _, s := range report {
			out = append(out, Change{s.at.Pointer(), s.kind, s.action})
		}
	}
	return out
}

func (r *reader) new(src *node) *form {
	if len(r.forms) == 0 {
		r.forms = make([]form, 8)
	}
	f := &r.forms[0]
	r.forms = r.forms[1:]
	f.src = src
	return f
}

// at returns the unopened form of a node.
func (r *reader) at(n *node) *form {
	if len(r.byNode) < r.Count {
		r.byNode = append(r.byNode, make([]*form, r.Count-len(r.byNode))...)
	}
	if r.byNode[n.ID] == nil {
		r.byNode[n.ID] = r.new(n)
	}
	return r.byNode[n.ID]
}

// each returns the unopened forms of several nodes.
func (r *reader) each(list []*node) []*form {
	out := make([]*form, 0, len(list))
	for _, n := range list {
		out = append(out, r.at(n))
	}
	return out
}

// named returns the unopened forms of schemas by name.
func (r *reader) named(list []*node) []prop {
	out := make([]prop, 0, len(list))
	for _, n := range list {
		out = append(out, prop{n.Key, r.at(n)})
	}
	return out
}

// made returns a new form that is not in the input.
func (r *reader) made(src *node) *form {
	f := r.new(src)
	f.read = true
	f.mixed = true
	return f
}

// open returns the form with references followed and allOf merged. Its children stay unopened.
func (r *reader) open(f *form) *form {
	if f.flat != nil {
		return f.flat
	}
	if f.busy {
		r.change(f.src, RefLoop, "accepts anything")
		any := r.made(f.src)
		any.notes = []string{"(schema missing)"}
		return any
	}
	f.busy = true
	if !f.read {
		r.read(f)
	}
	f.flat = r.flatten(f)
	f.flat.flat = f.flat
	f.busy = false
	if id := f.flat.id(); id.name == "" {
		id.name = f.name
	}
	return f.flat
}

func (r *reader) flatten(f *form) *form {
	if f.ref == nil && len(f.all) == 0 {
		return r.seal(r.finish(f))
	}
	parts := f.all
	if f.ref != nil {
		parts = append([]*form{f.ref}, parts...)
		if r.flavor.refAlone() {
			keep := r.made(f.src)
			keep.title = f.title
			keep.desc = f.desc
			keep.notes = f.notes
			if d := f.keyword("default"); d != nil {
				keep.rest = append(keep.rest, d)
			}
			if !f.bare() {
				r.change(f.src, RefSibling, "dropped: it has no effect beside a reference")
			}
			return r.overlay(r.open(f.ref), keep)
		}
	}
	if len(parts) == 1 && f.bare() {
		return r.overlay(r.open(parts[0]), f)
	}
	own := f.copy()
	out := r.finish(own)
	if out != own { // the only branch left of a union is shared
		out = out.copy()
	}
	for _, p := range parts {
		r.mergeInto(out, r.open(p))
	}
	return r.seal(r.finish(out))
}

// overlay returns the target of a reference with the annotations beside the reference.
func (r *reader) overlay(target, site *form) *form {
	if site.title == "" && site.desc == "" && len(site.notes) == 0 && len(site.rest) == 0 {
		return target
	}
	c := target.copy()
	c.base = target.id()
	c.src = site.src
	if site.title != "" {
		c.title = site.title
	}
	if site.desc != "" {
		c.desc = site.desc
	}
	c.notes = append(c.notes, site.notes...)
	for _, n := range site.rest {
		c.rest = slices.DeleteFunc(c.rest, func(o *node) bool { return o.Key == n.Key })
		c.rest = append(c.rest, n)
	}
	c.flat = c
	return c
}
