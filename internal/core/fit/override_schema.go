package fit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

// rewrite makes the schema that is shown. Everything unchanged keeps its bytes.
func (o *Override) rewrite(raw json.RawMessage) (json.RawMessage, error) {
	if !o.touches() {
		return raw, nil
	}
	doc, err := jsonschema.Parse(raw)
	if err != nil {
		return nil, err
	}
	if doc.Get("$ref") != nil || doc.Get("allOf") != nil {
		raw, err = inline(doc)
		if err != nil {
			return nil, err
		}
	}
	root, ok := editObject(raw)
	if !ok || root.find("properties") == nil {
		return nil, fmt.Errorf("its properties are not at the root of the schema")
	}
	t := root.t
	required := o.required(t)
	switch c := root.find("required"); {
	case c == nil && string(required) != "[]":
		root.add("required", required)
	case c != nil && string(required) == "[]":
		c.drop = true // older drafts have no empty list
	case c != nil && !samePlain(required, t.raw(c.token)):
		c.raw = required
	}
	for k := range root.members {
		if c := &root.members[k]; conditions[c.name] && o.mentioned(t, c.token) {
			c.drop = true
		}
	}
	gone := map[string][]byte{}
	props := root.find("properties")
	props.raw = o.properties(t, props.token, jsonschema.DraftOf(doc).RefAlone(), gone)
	return o.repoint(root.bytes(), gone)
}

// conditions relate properties to each other. One that mentions a changed property is not shown, but
// still enforced.
var conditions = map[string]bool{
	"anyOf": true, "oneOf": true, "not": true, "if": true, "then": true, "else": true,
	"dependentRequired": true, "dependentSchemas": true, "dependencies": true,
}

// mentioned reports whether a name that is not shown as it is stands anywhere in value i.
func (o *Override) mentioned(t *tape, i int32) bool {
	for k := i; k < t.tokens[i].next; k++ {
		for _, name := range []string{t.name(k), t.text(k)} {
			if name != "" && (o.supplied(name) || has(o.Rename, name)) {
				return true
			}
		}
	}
	return false
}

// supplied reports whether the model need not give the property, or cannot.
func (o *Override) supplied(name string) bool {
	return has(o.Fix, name) || has(o.Default, name) || slices.Contains(o.Hide, name)
}

// required is the list of names that the model must give.
func (o *Override) required(t *tape) []byte {
	var names []string
	if c := t.get(0, "required"); c >= 0 && t.tokens[c].kind == isArray {
		for e := t.first(c); e >= 0; e = t.after(e) {
			names = append(names, t.text(e))
		}
	}
	for _, name := range o.Require {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	var shown [][]byte
	for _, name := range names {
		if !o.supplied(name) {
			shown = append(shown, rawjson.AppendString(nil, o.shownName(name)))
		}
	}
	return list(shown)
}

// list writes values as an array.
func list(values [][]byte) []byte {
	return slices.Concat([]byte{'['}, bytes.Join(values, []byte{','}), []byte{']'})
}

func (o *Override) shownName(name string) string {
	if to, ok := o.Rename[name]; ok {
		return to
	}
	return name
}

// properties rewrites the properties. What is taken away goes to gone.
func (o *Override) properties(t *tape, i int32, alone bool, gone map[string][]byte) []byte {
	props := t.edit(i)
	for k := range props.members {
		c := &props.members[k]
		if c.drop {
			continue
		}
		if has(o.Fix, c.name) || slices.Contains(o.Hide, c.name) {
			gone[c.name] = t.raw(c.token)
			c.drop = true
			continue
		}
		if to := o.shownName(c.name); to != c.name {
			c.to = to
		}
		c.raw = o.property(c.name, t.raw(c.token), alone)
	}
	return props.bytes()
}

// property rewrites one property; nil when it stays. In older drafts a reference stands alone, so it
// moves into allOf.
func (o *Override) property(name string, raw []byte, alone bool) []byte {
	text, describe := o.Describe[name]
	value, byDefault := o.Default[name]
	values, narrow := o.Enum[name]
	if !describe && !byDefault && !narrow {
		return nil
	}
	prop, ok := editObject(raw)
	if !ok { // a boolean says nothing
		prop, _ = editObject([]byte("{}"))
	}
	if alone && prop.find("$ref") != nil {
		prop, _ = editObject(slices.Concat([]byte(`{"allOf":[`), raw, []byte("]}")))
	}
	if describe {
		prop.set("description", rawjson.AppendString(nil, text))
	}
	if byDefault {
		prop.set("default", value)
	} else if c := prop.find("default"); c != nil && narrow && !isAmong(values, prop.t.raw(c.token)) {
		c.drop = true
	}
	if narrow {
		raws := make([][]byte, len(values))
		for k, v := range values {
			raws[k] = v
		}
		prop.set("enum", list(raws))
	}
	return prop.bytes()
}

// repoint keeps references to properties that were renamed or removed.
func (o *Override) repoint(raw []byte, gone map[string][]byte) (json.RawMessage, error) {
	t := &tape{}
	if err := t.read(raw); err != nil {
		return nil, err
	}
	const prefix = "#/properties/"
	var cuts []edit
	var kept []string
	for i := range int32(len(t.tokens)) {
		if t.tokens[i].kind != isString || t.tokens[i].keyEnd == 0 || !t.is(i, "$ref") {
			continue
		}
		path, ok := strings.CutPrefix(t.text(i), prefix)
		if !ok {
			continue
		}
		first, rest, deeper := strings.Cut(path, "/")
		if deeper {
			rest = "/" + rest
		}
		name := jsonschema.UnescapeToken(jsonschema.Unescape(first))
		to := prefix + jsonschema.EscapeToken(o.shownName(name)) + rest
		if gone[name] != nil {
			to = "#/$defs/" + jsonschema.EscapeToken(name) + rest
			if !slices.Contains(kept, name) {
				kept = append(kept, name)
			}
		}
		cuts = append(cuts, edit{t.tokens[i].start, t.tokens[i].end, rawjson.AppendString(nil, to)})
	}
	out := splice(t, 0, cuts)
	if len(kept) == 0 {
		return out, nil
	}
	return addDefs(out, kept, gone), nil
}

// addDefs keeps the schemas of properties that others refer to.
func addDefs(raw []byte, names []string, gone map[string][]byte) json.RawMessage {
	root, _ := editObject(raw)
	defs, _ := editObject([]byte("{}"))
	if c := root.find("$defs"); c != nil && root.t.tokens[c.token].kind == isObject {
		defs = root.t.edit(c.token)
	}
	for _, name := range names {
		defs.add(name, gone[name])
	}
	root.set("$defs", defs.bytes())
	return root.bytes()
}
