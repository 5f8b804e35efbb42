package fit

import (
	"slices"

	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

// wrappers are names that models give to the arguments as a whole.
var wrappers = []string{"argument", "input", "kwarg", "parameter", "payload", "toolinput"}

// callers are names that models give to the tool's name beside its arguments.
var callers = []string{"function", "functionname", "name", "tool", "toolname"}

// common are names that things on any level have, so that they prove nothing about where they belong.
var common = []string{
	"content", "data", "description", "identifier", "key", "label", "name", "status", "text", "title", "type", "url", "value",
}

// inside returns the object that value i is, or has as text, as a tape and the token on it; nil if there is
// none.
func (m *repairer) inside(t *tape, i int32) (*tape, int32) {
	switch t.tokens[i].kind {
	case isObject:
		return t, i
	case isString:
		inner := &tape{}
		raw := t.raw(i)
		if !m.may(JSONText) || !m.spendBytes(len(raw)) {
			return nil, 0
		}
		if raw = readText(t.text(i)); raw != nil && raw[0] == '{' && inner.read(raw) == nil {
			return inner, 0
		}
	}
	return nil, 0
}

// wrapper returns the member that holds all arguments: the object's only one, or the one beside the tool's name.
func (k *naming) wrapper() (held *stranger) {
	if len(k.strange) == 0 || int(k.sp.t.tokens[k.sp.i].size) != len(k.strange) || len(k.strange) > 2 {
		return nil
	}
	if len(k.strange) == 1 {
		return k.strange[0]
	}
	var caller *stranger
	for _, c := range k.strange {
		switch {
		case slices.Contains(wrappers, c.form.plain):
			held = c
		case slices.Contains(callers, c.form.plain) && k.sp.t.tokens[c.token].kind == isString:
			caller = c
		}
	}
	if held == nil || caller == nil || !held.isOpen() || !caller.isOpen() {
		return nil
	}
	if k.m.tool.schema.name == "" || !k.m.isCalled(k.sp.t.text(caller.token)) { // it may be another tool's
		held.stuck = true
		caller.stuck = true
		return nil
	}
	return held
}

// unwrap takes the arguments out of the member that holds all of them, whose name is not declared.
func (k *naming) unwrap() ([]byte, bool) {
	m := k.m
	c := k.wrapper()
	if c == nil || !m.may(Level) || m.nested >= maxNesting || !c.isOpen() || c.stuck && m.nested > 0 {
		return nil, false
	}
	wrapper := slices.Contains(wrappers, c.form.plain)
	inner, root := m.inside(k.sp.t, c.token)
	if inner == nil || k.sp.fine && !wrapper && k.sp.t.tokens[c.token].kind == isString || len(k.homes(&c.form)) > 0 {
		return nil, false
	}
	before := len(m.repairs)
	m.record(k.field(c.name), Level, k.sp.t.raw(c.token), inner.raw(root))
	m.nested++
	raw, ok := m.fixed(k.sp.place, inner, root, k.sp.at)
	m.nested--
	out := &tape{}
	if !ok || out.read(raw) != nil || !k.isOurs(out, wrapper, m.repairs[before:]) {
		m.repairs = m.repairs[:before]
		return nil, false
	}
	return raw, true
}

// isOurs reports whether the members of what was wrapped are those of the object. Where the wrapped form
// fits as well, all must be, and more than a name that anything has.
func (k *naming) isOurs(t *tape, wrapper bool, repairs []Repair) bool {
	ours := 0
	telling := 0
	for i := t.first(0); i >= 0; i = t.after(i) {
		name := t.name(i)
		filled := func(r Repair) bool { return r.Kind == Default && r.Field == k.field(name) }
		if (isKnown(&k.m.budget, k.sp.flat, name) || slices.Contains(k.required, name)) && !slices.ContainsFunc(repairs, filled) {
			ours++
		}
		if !slices.Contains(common, formOf(name).plain) {
			telling++
		}
	}
	size := int(t.tokens[0].size)
	switch {
	case size == 0:
		return !k.sp.fine && wrapper
	case k.sp.fine:
		return ours == size && (wrapper || telling > 0 || size > 1)
	}
	return ours > 0
}

// sink moves unknown members into the one object beside them that declares and lacks them.
func (k *naming) sink() {
	if !k.m.may(Level) {
		return
	}
	var order []string
	into := map[string][]*stranger{}
	proof := map[string]bool{}
	for _, c := range k.strange {
		homes := k.homes(&c.form)
		if !c.isOpen() || c.stuck || len(homes) != 1 {
			continue
		}
		home := homes[0]
		if into[home] == nil {
			order = append(order, home)
		}
		into[home] = append(into[home], c)
		proof[home] = proof[home] || !k.sp.fine || !slices.Contains(common, c.form.plain)
	}
	for _, home := range order {
		if proof[home] {
			k.down(home, into[home])
		}
	}
}

// homes lists the properties whose objects declare the name.
func (k *naming) homes(name *form) []string {
	var out []string
	for _, f := range k.names {
		if slices.ContainsFunc(k.inner(f.name), func(g form) bool { return g.fold == name.fold }) {
			out = append(out, f.name)
		}
	}
	return out
}

// inner returns the names that a property's object declares.
func (k *naming) inner(name string) []form {
	if list, ok := k.below[name]; ok {
		return list
	}
	place, _, _ := under(&k.m.budget, k.reach, name)
	list := declaredNames(reach(place))
	k.m.spend(32 * len(list))
	k.below[name] = list
	return list
}

// down moves members into the object home, which is made if it is absent.
func (k *naming) down(home string, list []*stranger) {
	m := k.m
	o, _ := editObject([]byte("{}"))
	given := k.o.find(home)
	if k.isSealed(home) {
		return
	}
	if given != nil {
		var ok bool
		raw := given.raw
		if raw == nil {
			raw = k.sp.t.raw(given.token)
		}
		if o, ok = editObject(raw); !ok {
			return
		}
	} else if !k.free(home) {
		return
	}
	before := len(m.repairs)
	defer func() {
		if !list[0].drop {
			m.repairs = m.repairs[:before]
		}
	}()
	for _, c := range list {
		at := slices.IndexFunc(k.inner(home), func(f form) bool { return f.fold == c.form.fold })
		name := k.inner(home)[at].name
		if o.has(name) {
			return
		}
		m.record(k.field(c.name), Level, []byte(c.name), []byte(home+"."+name))
		o.add(name, k.sp.t.raw(c.token))
	}
	place, _, _ := under(&m.budget, k.sp.flat, home)
	t := &tape{}
	if t.read(o.bytes()) != nil {
		return
	}
	raw, ok := m.fixed(place, t, 0, k.field(home))
	for _, c := range o.added {
		ok = ok && !m.wrapped(before, k.field(home)+"/"+jsonschema.EscapeToken(c.name))
	}
	if !ok {
		return
	}
	for _, c := range list {
		c.drop = true
	}
	if given != nil {
		given.raw = raw
		return
	}
	k.o.add(home, raw)
}

// fixed returns value i as the place takes it.
func (m *repairer) fixed(place []*shape, t *tape, i int32, at string) ([]byte, bool) {
	before := len(m.repairs)
	raw, ok := m.repair(place, t, i, at)
	if raw == nil {
		raw = t.raw(i)
	}
	if ok {
		_, ok = m.fitsRaw(place, raw, true)
	}
	if !ok {
		m.repairs = m.repairs[:before]
	}
	return raw, ok
}

// wrapped reports whether a value became a list since the repair before: a sign that it is another one.
func (m *repairer) wrapped(before int, at string) bool {
	return slices.ContainsFunc(m.repairs[before:], func(r Repair) bool { return r.Kind == Wrap && r.Field == at })
}

func (k *naming) field(name string) string { return k.sp.at + "/" + jsonschema.EscapeToken(name) }
