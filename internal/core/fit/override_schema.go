package fit

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

// rewrite makes the schema that is shown. The bytes of what is not changed stay as they are.
func (o *Override) rewrite(raw json.RawMessage) (json.RawMessage, error) {
	if !o.touches() {
		return raw, nil
	}
	doc, err := jsonschema.Parse(raw)
	if err != nil {
		return nil, err
	}
	if doc.Get("$ref") != nil || doc.Get("allOf") != nil {
		if raw, err = inline(doc); err != nil {
			return nil, err
		}
	}
	t := &tape{}
	if err := t.read(raw); err != nil {
		return nil, err
	}
	root := membersOf(t, 0)
	props := find(root, "properties")
	if props == nil {
		return nil, fmt.Errorf("its properties do not stand where they can be changed")
	}
	var added []member
	required := o.required(t)
	switch c := find(root, "required"); {
	case c == nil && string(required) != "[]":
		added = append(added, member{name: "required", raw: required})
	case c != nil && string(required) == "[]":
		c.drop = true // older drafts have no empty list
	case c != nil && !samePlain(required, t.raw(c.token)):
		c.raw = required
	}
	for k := range root {
		if c := &root[k]; conditions[c.name] && o.mentioned(t, c.token) {
			c.drop = true
		}
	}
	gone := map[string][]byte{}
	props.raw = o.properties(t, props.token, jsonschema.DraftOf(doc).RefAlone(), gone)
	out := splice(t, 0, rewrite(t, 0, root, added))
	return o.repoint(out, gone)
}

// conditions are the keywords that say which properties go together. One that speaks of a
// property which the model does not see as it is cannot be shown; it is enforced all the same.
var conditions = map[string]bool{
	"anyOf": true, "oneOf": true, "not": true, "if": true, "then": true, "else": true,
	"dependentRequired": true, "dependentSchemas": true, "dependencies": true,
}

// mentioned tells whether a name that is not shown as it is stands anywhere in value i.
func (o *Override) mentioned(t *tape, i int32) bool {
	for k := i; k < t.tokens[i].next; k++ {
		for _, name := range []string{t.name(k), t.text(k)} {
			_, fixed := o.Fix[name]
			_, defaulted := o.Default[name]
			_, renamed := o.Rename[name]
			if name != "" && (fixed || defaulted || renamed || slices.Contains(o.Hide, name)) {
				return true
			}
		}
	}
	return false
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
	out := []byte{'['}
	for _, name := range names {
		_, fixed := o.Fix[name]
		_, defaulted := o.Default[name]
		if fixed || defaulted || slices.Contains(o.Hide, name) {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = rawjson.AppendString(out, o.shownName(name))
	}
	return append(out, ']')
}

func (o *Override) shownName(name string) string {
	if to, ok := o.Rename[name]; ok {
		return to
	}
	return name
}

// properties rewrites the properties. What is taken away goes to gone.
func (o *Override) properties(t *tape, i int32, alone bool, gone map[string][]byte) []byte {
	members := membersOf(t, i)
	for k := range members {
		c := &members[k]
		if c.drop {
			continue
		}
		_, fixed := o.Fix[c.name]
		if fixed || slices.Contains(o.Hide, c.name) {
			gone[c.name], c.drop = t.raw(c.token), true
			continue
		}
		if to, ok := o.Rename[c.name]; ok && to != c.name {
			c.to = to
		}
		if raw := o.property(c.name, t.raw(c.token), alone); raw != nil {
			c.raw = raw
		}
	}
	return splice(t, i, rewrite(t, i, members, nil))
}

// property rewrites the schema of one property; nil when it stays. Where a reference must
// stand alone, as in older drafts, it moves into an allOf.
func (o *Override) property(name string, raw []byte, alone bool) []byte {
	text, describe := o.Describe[name]
	value, byDefault := o.Default[name]
	values, narrow := o.Enum[name]
	if !describe && !byDefault && !narrow {
		return nil
	}
	t := &tape{}
	if t.read(raw) != nil || t.tokens[0].kind != isObject { // a boolean says nothing
		if t.read([]byte("{}")) != nil {
			return nil
		}
	}
	if alone && t.get(0, "$ref") >= 0 {
		if t.read(slices.Concat([]byte(`{"allOf":[`), raw, []byte("]}"))) != nil {
			return nil
		}
	}
	members := membersOf(t, 0)
	var added []member
	set := func(key string, raw []byte) {
		if c := find(members, key); c != nil {
			c.raw = raw
		} else {
			added = append(added, member{name: key, raw: raw})
		}
	}
	if describe {
		set("description", rawjson.AppendString(nil, text))
	}
	if byDefault {
		set("default", value)
	} else if c := find(members, "default"); c != nil && narrow && !slices.ContainsFunc(values, func(v json.RawMessage) bool { return samePlain(v, t.raw(c.token)) }) {
		c.drop = true
	}
	if narrow {
		list := []byte{'['}
		for k, v := range values {
			if k > 0 {
				list = append(list, ',')
			}
			list = append(list, v...)
		}
		set("enum", append(list, ']'))
	}
	return splice(t, 0, rewrite(t, 0, members, added))
}

// repoint keeps references alive that point to a property which was renamed or taken away.
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
	return addDefs(out, kept, gone)
}

// addDefs keeps the schemas of properties that others refer to.
func addDefs(raw []byte, names []string, gone map[string][]byte) (json.RawMessage, error) {
	t := &tape{}
	if err := t.read(raw); err != nil {
		return nil, err
	}
	root := membersOf(t, 0)
	var defs []member
	for _, name := range names {
		defs = append(defs, member{name: name, raw: gone[name]})
	}
	if c := find(root, "$defs"); c != nil && t.tokens[c.token].kind == isObject {
		c.raw = splice(t, c.token, rewrite(t, c.token, membersOf(t, c.token), defs))
		return splice(t, 0, rewrite(t, 0, root, nil)), nil
	}
	all := []byte{'{'}
	for k, d := range defs {
		if k > 0 {
			all = append(all, ',')
		}
		all = append(append(rawjson.AppendString(all, d.name), ':'), d.raw...)
	}
	return splice(t, 0, rewrite(t, 0, root, []member{{name: "$defs", raw: append(all, '}')}})), nil
}
