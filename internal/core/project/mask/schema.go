package mask

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

type node = jsonschema.Node

// Cuts are what may happen to the values that a schema describes.
type Cuts struct {
	Masks  []*Mask // one of them is applied
	Whole  bool    // or none
	Budget bool    // and then rows and members may go and strings may be cut
	Note   string  // the member of a root object that says what is missing; "": none is added
}

// Schema is the schema of the values after the cuts. Nil when there is none: a keyword depends on
// members that may be missing, or a reference leaves the schema.
func Schema(schema []byte, cuts Cuts) []byte {
	root, err := jsonschema.Parse(schema)
	if err != nil {
		return nil
	}
	w := &schemaWriter{index: jsonschema.NewIndex(root, jsonschema.DraftOf(root)), root: root, cuts: cuts, names: map[place]string{}}
	var vs views
	for _, m := range cuts.Masks {
		vs = append(vs, m.view())
	}
	if cuts.Whole || len(vs) == 0 {
		vs = append(vs, whole)
	}
	out := w.write(nil, root, vs.distinct(), cuts.Note != "")
	w.moved = true
	var defs []byte
	for i := 0; i < len(w.defs) && !w.failed; i++ { // writing one may add others
		d := w.defs[i]
		if i > 0 {
			defs = append(defs, ',')
		}
		defs = append(rawjson.AppendString(defs, d.name), ':')
		defs = w.write(defs, d.schema, d.views, d.root)
	}
	if w.failed {
		return nil
	}
	return withDefs(out, defs)
}

// maxDefs bounds the definitions that are written anew.
const maxDefs = 256

type schemaWriter struct {
	root   *node
	index  *jsonschema.Index
	cuts   Cuts
	names  map[place]string // of definitions
	defs   []definition
	moved  bool // what is written stands in another place than before
	failed bool
}

// place is a schema as some views see it.
type place struct {
	schema *node
	root   bool
	views  string
}

// definition is one that is still to be written.
type definition struct {
	name   string
	schema *node
	views  views
	root   bool
}

// touched reports whether anything may happen to the values at a place.
func (w *schemaWriter) touched(vs views, root bool) bool {
	return w.cuts.Budget || root || vs.some(func(v view) bool { return v.cutsMembers() || v.rows.set || v.limit != noCap })
}

func (w *schemaWriter) write(out []byte, schema *node, vs views, root bool) []byte {
	if schema.Kind != jsonschema.Object || !w.touched(vs, root) || w.failed {
		return schema.AppendRaw(out)
	}
	n := &nodeWriter{schemaWriter: w, views: vs, root: root, out: append(out, '{')}
	n.members = vs.some(view.cutsMembers)
	n.rows = w.cuts.Budget || vs.some(func(v view) bool { return v.rows.set })
	n.strings = w.cuts.Budget || vs.some(func(v view) bool { return v.limit != noCap })
	for _, kid := range schema.Kids {
		n.keyword(kid)
	}
	if root && !n.noted {
		n.key("properties")
		n.properties(nil)
	}
	return append(n.out, '}')
}

// define returns the name of the definition for a reference and these views; "" when none can be
// written.
func (w *schemaWriter) define(ref *node, vs views, root bool) string {
	target := w.index.Lookup(ref, ref.Text).Node
	if target == nil || w.index.Resource(ref) != w.root || w.index.Resource(target) != w.root {
		return ""
	}
	at := place{target, root, vs.key()}
	name, known := w.names[at]
	if known {
		return name
	}
	if len(w.defs) >= maxDefs {
		return ""
	}
	for i := len(w.defs) + 1; ; i++ {
		name = fmt.Sprintf("cut%d", i)
		if w.root.Get("$defs").Get(name) == nil {
			break
		}
	}
	w.names[at] = name
	w.defs = append(w.defs, definition{name, target, vs, root})
	return name
}

// withDefs adds definitions to those of a root that was written.
func withDefs(out, defs []byte) []byte {
	if len(defs) == 0 {
		return out
	}
	walk := rawjson.Object(out)
	for walk.Next() {
		if string(walk.Key) == "$defs" && walk.Value[0] == '{' {
			if len(bytes.TrimSpace(walk.Value[1:len(walk.Value)-1])) > 0 {
				defs = append([]byte{','}, defs...)
			}
			at := walk.End - 1
			return rawjson.AppendSplice(nil, out, rawjson.Edit{Start: at, End: at, New: defs})
		}
	}
	n := nodeWriter{out: out[:len(out)-1]}
	n.key("$defs")
	return slices.Concat(n.out, []byte{'{'}, defs, []byte("}}"))
}

// isShort reports whether no budget would cut the value, or any of a list.
func isShort(value *node) bool {
	if value.Kind != jsonschema.Array {
		return len(value.Text) <= shortEnum
	}
	return !slices.ContainsFunc(value.Kids, func(kid *node) bool {
		return kid.Kind == jsonschema.String && len(kid.Text) > shortEnum
	})
}

// shortEnum is a length that no budget cuts a string to.
const shortEnum = 60
