package mask

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/rawjson"
)

// Cuts are what may happen to the values that a schema describes.
type Cuts struct {
	Masks  []*Mask // one of them is applied
	Whole  bool    // or none
	Budget bool    // and then rows and members may go and strings may be cut
	Note   string  // the member of a root object that says what is missing; "": none is added
}

// Schema is the schema of what is left after the cuts: every value that fits the given one,
// cut, fits it. It is nil when that cannot be said: where a keyword depends on members that
// may be missing, or a reference leads out of the schema. Order and unknown keywords stay.
func Schema(schema []byte, cuts Cuts) []byte {
	w := &schemaWriter{root: schema, cuts: cuts, names: map[string]string{}}
	var vs views
	for _, m := range cuts.Masks {
		vs = append(vs, m.view())
	}
	if cuts.Whole || len(vs) == 0 {
		vs = append(vs, whole)
	}
	if rawjson.Check(schema) != nil {
		return nil
	}
	out := w.write(schema, vs.distinct(), cuts.Note != "")
	for i := 0; i < len(w.defs) && !w.failed; i++ { // writing one may add others
		d := w.defs[i]
		w.written = append(w.written, fmt.Appendf(nil, "%q:%s", d.name, w.write(d.schema, d.views, d.root)))
	}
	if w.failed {
		return nil
	}
	return w.withDefs(out)
}

// maxDefs bounds the definitions that are written anew.
const maxDefs = 256

type schemaWriter struct {
	root    []byte
	cuts    Cuts
	names   map[string]string // of definitions, by reference and views
	defs    []definition
	written [][]byte
	failed  bool
}

// definition is one that is still to be written.
type definition struct {
	name   string
	schema []byte
	views  views
	root   bool
}

// touched tells whether anything may happen to the values at a place.
func (w *schemaWriter) touched(vs views, root bool) bool {
	return w.cuts.Budget || root || vs.some(func(v view) bool { return v.cutsMembers() || v.rows.set || v.limit != noCap })
}

func (w *schemaWriter) write(schema []byte, vs views, root bool) []byte {
	schema = trimSpace(schema)
	if schema[0] != '{' || !w.touched(vs, root) || w.failed {
		return schema
	}
	n := &nodeWriter{schemaWriter: w, views: vs, root: root, out: []byte{'{'}}
	n.members = vs.some(view.cutsMembers)
	n.rows = w.cuts.Budget || vs.some(func(v view) bool { return v.rows.set })
	n.strings = w.cuts.Budget || vs.some(func(v view) bool { return v.limit != noCap })
	walk := rawjson.Object(schema)
	for walk.Next() {
		n.keyword(string(walk.Key), walk.Value)
	}
	if root && !n.noted {
		n.add("properties", n.note())
	}
	return append(n.out, '}')
}

// reference writes the definition that a reference names for these views, and names it.
func (w *schemaWriter) reference(raw []byte, vs views, root bool) []byte {
	ref, _ := rawjson.String(raw)
	id := fmt.Sprint(ref, " ", root, " ", vs.key())
	name, known := w.names[id]
	if !known {
		target := resolve(w.root, ref)
		if target == nil || len(w.defs) >= maxDefs {
			w.failed = true
			return raw
		}
		for i := len(w.defs) + 1; ; i++ {
			if name = fmt.Sprintf("cut%d", i); rawjson.Get(w.root, "$defs", name) == nil {
				break
			}
		}
		w.names[id] = name
		w.defs = append(w.defs, definition{name, target, vs, root})
	}
	return fmt.Appendf(nil, `"#/$defs/%s"`, name)
}

// resolve finds what a reference within the schema names; nil when it does not.
func resolve(root []byte, ref string) []byte {
	if ref == "#" {
		return root
	}
	path, ok := strings.CutPrefix(ref, "#/")
	if !ok {
		return nil
	}
	at := root
	for _, part := range strings.Split(path, "/") {
		part = strings.ReplaceAll(strings.ReplaceAll(part, "~1", "/"), "~0", "~")
		if at = rawjson.Get(at, part); at == nil {
			return nil // also for places in arrays, which no tool was seen to use
		}
	}
	return at
}

// withDefs adds the definitions that were written to those of the root.
func (w *schemaWriter) withDefs(out []byte) []byte {
	if len(w.written) == 0 {
		return out
	}
	all := bytes.Join(w.written, []byte{','})
	walk := rawjson.Object(out)
	for walk.Next() {
		if string(walk.Key) == "$defs" && walk.Value[0] == '{' {
			if len(trimSpace(walk.Value[1:len(walk.Value)-1])) > 0 {
				all = append([]byte{','}, all...)
			}
			at := walk.End - 1
			return rawjson.AppendSplice(nil, out, rawjson.Edit{Start: at, End: at, New: all})
		}
	}
	n := nodeWriter{out: out[:len(out)-1]}
	n.add("$defs", slices.Concat([]byte{'{'}, all, []byte{'}'}))
	return append(n.out, '}')
}

func trimSpace(b []byte) []byte {
	for len(b) > 0 && isSpace(b[0]) {
		b = b[1:]
	}
	for len(b) > 0 && isSpace(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return b
}

// isShortEnum tells whether no budget would cut the values that are allowed.
func isShortEnum(raw []byte) bool {
	var values []any
	if json.Unmarshal(raw, &values) != nil {
		values = []any{string(raw)} // of const
	}
	for _, v := range values {
		if s, ok := v.(string); ok && len(s) > shortEnum {
			return false
		}
	}
	return true
}

// shortEnum is a length that no budget cuts a string to.
const shortEnum = 60
