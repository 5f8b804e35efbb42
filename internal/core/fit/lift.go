package fit

import (
	"cmp"
	"slices"

	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

// tooDeep is a member of an inner object that belongs one level up.
type tooDeep struct {
	c   *member // the inner object
	i   int32   // the member's token inside it
	to  string
	raw []byte
}

// lift takes members out of inner objects that do not declare them, where the object itself does and lacks
// them.
func (k *naming) lift() {
	if !k.m.may(Level) {
		return
	}
	before := len(k.m.repairs)
	seen := map[string]bool{}
	var all []tooDeep
	for n := range k.o.members {
		for _, x := range k.deeper(&k.o.members[n]) {
			if seen[x.to] { // two objects have it
				k.m.repairs = k.m.repairs[:before]
				return
			}
			seen[x.to] = true
			all = append(all, x)
		}
	}
	for n, x := range all {
		k.o.add(x.to, x.raw)
		if n == len(all)-1 || all[n+1].c != x.c {
			k.without(x.c, all)
		}
	}
}

// without removes from the inner object what was lifted, and repairs what is left.
func (k *naming) without(c *member, lifted []tooDeep) {
	if k.stranger(c) != nil {
		c.drop = true
		return
	}
	rest := k.sp.t.edit(c.token)
	for n := range rest.members {
		is := func(x tooDeep) bool { return x.c == c && x.i == rest.members[n].token }
		rest.members[n].drop = rest.members[n].drop || slices.ContainsFunc(lifted, is)
	}
	place, _, _ := under(&k.m.budget, k.sp.flat, cmp.Or(c.to, c.name))
	c.raw = k.m.mended(place, rest.bytes(), k.field(c.name))
}

// mended repairs bytes as far as possible.
func (m *repairer) mended(place []*shape, raw []byte, at string) []byte {
	t := &tape{}
	if t.read(raw) != nil {
		return raw
	}
	if fixed, _ := m.repair(place, t, 0, at); fixed != nil {
		return fixed
	}
	return raw
}

// stranger returns the member as a stranger with which nothing was done, or nil.
func (k *naming) stranger(c *member) *stranger {
	at := slices.IndexFunc(k.strange, func(s *stranger) bool { return s.member == c && s.isOpen() })
	if at < 0 {
		return nil
	}
	return k.strange[at]
}

// deeper lists what belongs one level up from a member: of an unknown one everything or nothing, of a
// declared one what it does not declare.
func (k *naming) deeper(c *member) []tooDeep {
	m := k.m
	unknown := k.stranger(c)
	stranger := unknown != nil
	if c.drop || c.raw != nil || k.isSealed(c.name) || !stranger && k.sp.t.tokens[c.token].kind != isObject {
		return nil
	}
	alone := k.sp.t.tokens[k.sp.i].size == 1 // then it was unwrapped if it can be
	if stranger && (alone || unknown.stuck || k.sp.fine && !slices.Contains(wrappers, unknown.form.plain)) {
		return nil
	}
	inner, root := m.inside(k.sp.t, c.token)
	if inner == nil || int(inner.tokens[root].size) > maxStrange {
		return nil
	}
	around := &vocabulary{}
	if !stranger {
		place, _, _ := under(&m.budget, k.sp.flat, cmp.Or(c.to, c.name))
		around = m.vocabulary(place)
		if !m.spend(len(around.reach)*int(inner.tokens[root].size)) || !around.speaks() {
			return nil // it takes any name
		}
	}
	before := len(m.repairs)
	var out []tooDeep
	for i := inner.first(root); i >= 0; i = inner.after(i) {
		if !stranger && m.isMeant(around.reach, inner, i) {
			continue
		}
		here := len(m.repairs)
		x := tooDeep{c: c, i: i, to: k.upper(inner.name(i), around, stranger)}
		ok := x.to != ""
		if ok {
			m.record(k.field(c.name)+"/"+jsonschema.EscapeToken(inner.name(i)), Level, []byte(c.name+"."+inner.name(i)), []byte(x.to))
			place, _, _ := under(&m.budget, k.sp.flat, x.to)
			x.raw, ok = m.fixed(place, inner, i, k.field(x.to))
			ok = ok && !m.wrapped(before, k.field(x.to))
		}
		switch {
		case ok:
			out = append(out, x)
		case stranger:
			m.repairs = m.repairs[:before]
			return nil
		default:
			m.repairs = m.repairs[:here]
		}
	}
	return out
}

// upper returns the object's own property that a name one level deeper stands for, or "".
func (k *naming) upper(name string, around *vocabulary, unknown bool) string {
	f := formOf(cut(name, maxText))
	if !unknown && k.sp.fine && slices.Contains(common, f.plain) {
		return ""
	}
	if around.names == nil {
		around.learn(k.m)
	}
	inner := &naming{vocabulary: around}
	like := func(g form) bool {
		return slices.ContainsFunc(resemblances, func(alike resemblance) bool { return alike(inner, &stranger{form: f}, &g) })
	}
	if slices.ContainsFunc(around.names, like) {
		return ""
	}
	to := ""
	for _, s := range k.sp.flat {
		for n := range s.props {
			p := s.props[n].name
			switch {
			case p == to || fold(p) != f.fold || !k.free(p):
			case to != "":
				return ""
			default:
				to = p
			}
		}
	}
	return to
}
