package fit

import (
	"strconv"
	"strings"

	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

// ruleReport holds the problems that the rules of a server found.
type ruleReport struct {
	problems []Problem
	hints    map[string]string // by field
}

func (r *ruleReport) empty() bool { return r == nil || len(r.problems) == 0 }

// join adds the rules' problems to an error.
func (r *ruleReport) join(fitErr *Error) *Error {
	if r == nil {
		return fitErr
	}
	for k := range fitErr.Problems {
		if hint := r.hints[fitErr.Problems[k].Field]; hint != "" {
			fitErr.Problems[k].Hint = hint
		}
	}
	fitErr.Problems = append(r.problems, fitErr.Problems...)
	return fitErr
}

// apply applies the rules of the server.
func (k *KnownTool) apply(m *repairer, raw []byte) ([]byte, *ruleReport) {
	found := &ruleReport{hints: map[string]string{}}
	for _, r := range k.rules {
		t := &tape{}
		if t.read(raw) != nil {
			return raw, found
		}
		a := &applier{m: m, rule: r, tape: t, found: found}
		flat, _ := m.spread(m.tool.schema.place, t, 0)
		var path []string
		if r.In != "" {
			path = strings.Split(r.In, ".")
		}
		a.walk(flat, 0, "", path)
		if len(a.cuts) > 0 {
			raw = splice(t, 0, a.cuts)
		}
	}
	return raw, found
}

// applier applies one rule.
type applier struct {
	m     *repairer
	rule  *Rule
	tape  *tape
	cuts  []edit
	found *ruleReport
}

// walk visits the objects that the rule applies to, also inside JSON text.
func (a *applier) walk(flat []*shape, i int32, at string, path []string) {
	if a.tape.tokens[i].kind != isObject {
		return
	}
	if len(path) == 0 {
		a.object(flat, i, at)
		return
	}
	name, each := strings.CutSuffix(path[0], "[]")
	c := a.tape.get(i, name)
	if c < 0 {
		return
	}
	at += "/" + jsonschema.EscapeToken(name)
	place, _, _ := under(&a.m.budget, flat, name)
	inner, _ := a.m.spread(place, a.tape, c)
	if a.tape.tokens[c].kind == isString {
		a.text(inner, c, at, path)
		return
	}
	if !each {
		a.walk(inner, c, at, path[1:])
		return
	}
	a.items(inner, c, at, path[1:])
}

func (a *applier) items(flat []*shape, i int32, at string, path []string) {
	item := func(n int, e int32) []*shape {
		inner, _ := a.m.spread(itemsOf(flat, n), a.tape, e)
		return inner
	}
	if a.tape.tokens[i].kind == isObject { // a single object instead of an array
		a.walk(item(0, i), i, at, path)
		return
	}
	n := 0
	for e := a.tape.first(i); e >= 0 && a.tape.tokens[i].kind == isArray; e = a.tape.after(e) {
		a.walk(item(n, e), e, at+"/"+strconv.Itoa(n), path)
		n++
	}
}

// text applies the rule to a list or object inside a string.
func (a *applier) text(flat []*shape, i int32, at string, path []string) {
	inner := &tape{}
	raw := readText(a.tape.text(i))
	if raw == nil || inner.read(raw) != nil || !a.m.may(JSONText) || inner.tokens[0].kind < isArray {
		return
	}
	a.m.record(at, JSONText, a.tape.raw(i), raw)
	b := &applier{m: a.m, rule: a.rule, tape: inner, found: a.found}
	if strings.HasSuffix(path[0], "[]") {
		b.items(flat, 0, at, path[1:])
	} else {
		b.walk(flat, 0, at, path[1:])
	}
	a.cuts = append(a.cuts, edit{a.tape.tokens[i].start, a.tape.tokens[i].end, splice(inner, 0, b.cuts)})
}

// object applies the rule to one object.
func (a *applier) object(flat []*shape, i int32, at string) {
	o := &ruled{applier: a, objectEdit: a.tape.edit(i), flat: flat, at: at}
	for k := range a.rule.Aliases {
		o.alias(&a.rule.Aliases[k])
	}
	for k := range a.rule.Units {
		o.unit(&a.rule.Units[k])
	}
	for k := range a.rule.Words {
		o.word(&a.rule.Words[k])
	}
	for _, key := range a.rule.Text {
		o.toText(key)
	}
	for k := range a.rule.Fill {
		o.fill(&a.rule.Fill[k])
	}
	for _, key := range a.rule.Drop {
		if c := o.find(key); c != nil && c.to == "" && !o.knows(key) {
			a.m.record(o.field(key), Drop, a.tape.raw(c.token), nil)
			c.drop = true
		}
	}
	o.demand()
	if o.changed() {
		a.cuts = append(a.cuts, o.edits()...)
	}
}
