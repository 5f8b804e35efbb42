package recall

import (
	"strings"

	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

// maxTargets is how many references in a row lead to a parameter, a body or a response.
const maxTargets = 8

// meant is a parameter, a body or a response, also where a reference stands for it. What
// is none has no members.
func (a *apiSpec) meant(v any) object {
	for range maxTargets {
		in, _ := v.(object)
		ref, ok := in["$ref"].(string)
		if !ok {
			return in
		}
		v = a.at(ref)
	}
	return nil
}

// at is the place of the specification that a reference names; nil: there is none.
func (a *apiSpec) at(ref string) any {
	var v any = a.whole
	for _, token := range wayOf(ref) {
		in, ok := v.(object)
		if !ok {
			return nil
		}
		v = in[token]
	}
	return v
}

// wayOf is the names that a reference into this document leads along; nil: it is none.
func wayOf(ref string) []string {
	path, ok := strings.CutPrefix(ref, "#")
	if !ok || !strings.HasPrefix(path, "/") {
		return nil
	}
	return jsonschema.Readings(path)[0]
}

// shelves are where definitions are kept, and how many names lead to one of them.
var shelves = map[string]int{"components": 3, "definitions": 2, "$defs": 2}

// reached gives the definitions that can be reached from the schemas by so many references
// in a row. A specification may bring along those of a whole product, of which a tool
// needs a few.
func (a *apiSpec) reached(schemas object, hops int) object {
	r := &reach{spec: a.whole, out: object{}}
	r.look(schemas)
	for hop := 1; hop <= hops; hop++ {
		refs := r.refs
		r.refs = nil
		for _, ref := range refs {
			r.take(wayOf(ref), hop == hops)
		}
	}
	if r.anywhere {
		for shelf := range shelves {
			if all, ok := a.whole[shelf].(object); ok {
				r.out[shelf] = all
			}
		}
	}
	return r.out
}

// reach gathers definitions.
type reach struct {
	spec, out object
	refs      []string // found since they were last followed
	anywhere  bool     // a reference names its target by an anchor, which may be in any definition
}

// look finds the references in a value.
func (r *reach) look(v any) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			r.look(item)
		}
	case object:
		for key, value := range v {
			switch ref, text := value.(string); {
			case !text:
				r.look(value)
			case key == "$ref", key == "$dynamicRef":
				r.refs = append(r.refs, ref)
				r.anywhere = r.anywhere || !strings.HasPrefix(ref, "#/")
			}
		}
	}
}

// maxSlashes is how many slashes a name is tried with.
const maxSlashes = 32

// take keeps the definition that a reference leads to or into. A slash in a name should be
// written ~1; where it is not, the name goes on behind it.
func (r *reach) take(way []string, last bool) {
	if len(way) == 0 || shelves[way[0]] == 0 || len(way) < shelves[way[0]] {
		return
	}
	names := way[shelves[way[0]]-1:]
	from, to := r.spec, r.out
	for _, shelf := range way[:len(way)-len(names)] {
		from, _ = from[shelf].(object)
		next, _ := to[shelf].(object)
		if next == nil {
			next = object{}
			to[shelf] = next
		}
		to = next
	}
	for n := range min(len(names), maxSlashes) {
		name := strings.Join(names[:n+1], "/")
		found, there := from[name]
		if !there || to[name] != nil {
			continue
		}
		if last && n == len(names)-1 {
			found = outline(found)
		} else {
			r.look(found)
		}
		to[name] = found
	}
}

// outline is what is told of a definition that is not followed.
func outline(v any) any {
	in, ok := v.(object)
	if !ok {
		return v
	}
	out := object{}
	for _, key := range []string{"type", "description"} {
		if value, there := in[key]; there {
			out[key] = value
		}
	}
	if items, there := in["items"]; there {
		out["items"] = outline(items)
	}
	return out
}
