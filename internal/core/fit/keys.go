package fit

import "slices"

// naming settles the names of an object's members, and on which level they belong.
type naming struct {
	*vocabulary
	m        *repairer
	sp       *spot
	o        *objectEdit
	strange  []*stranger
	required []string
}

// stranger is a member whose name nothing declares.
type stranger struct {
	*member
	form  form
	meant string // the property that it cannot be, by its value
	stuck bool   // what is meant by it is not clear
	taken bool   // what is meant by it is given already
}

// isOpen reports whether nothing was done with it.
func (c *stranger) isOpen() bool { return !c.drop && c.to == "" }

const (
	maxStrange  = 64      // unknown names in one object up to which they are taken for mistakes
	maxCompared = 1 << 14 // pairs of an unknown and a declared name in one object
)

func (m *repairer) naming(sp *spot, o *objectEdit) *naming {
	k := &naming{vocabulary: m.vocabulary(sp.place), m: m, sp: sp, o: o, required: requiredNames(sp.flat)}
	if !m.spend(128 + len(o.members)*len(k.reach)) {
		return k
	}
	for n := range o.members {
		if c := &o.members[n]; !c.drop && !m.isMeant(k.reach, sp.t, c.token) && !m.keep[c.name] {
			k.strange = append(k.strange, &stranger{member: c})
		}
	}
	if len(k.strange) > maxStrange {
		k.strange = nil
	}
	for _, c := range k.strange {
		c.form = formOf(cut(c.name, maxText))
	}
	if len(k.strange) > 0 && k.names == nil {
		k.learn(m)
	}
	return k
}

// unsettled returns the unknown names that are left.
func (k *naming) unsettled() (names []string) {
	for _, c := range k.strange {
		if c.isOpen() {
			names = append(names, c.name)
		}
	}
	return names
}

// free reports whether the name can be given to a member: it is declared, absent, and not kept from callers.
func (k *naming) free(name string) bool {
	known := isKnown(&k.m.budget, k.sp.flat, name) || slices.Contains(k.required, name)
	return known && !k.o.has(name) && !k.isSealed(name)
}

// isSealed reports whether an override sets the argument, or keeps it from callers.
func (k *naming) isSealed(name string) bool {
	v := k.m.tool.opts.Override
	return v != nil && k.sp.at == "" && v.seals(name)
}

// resemblance is a way in which a name can stand for another one.
type resemblance func(k *naming, a *stranger, b *form) bool

// resemblances are all, the surest first.
var resemblances = []resemblance{
	func(_ *naming, a *stranger, b *form) bool { return a.form.fold == b.fold },
	func(_ *naming, a *stranger, b *form) bool { return a.form.plain == b.plain },
	func(k *naming, a *stranger, b *form) bool {
		return misspelled(&a.form, b, k.uses, proven) && (misspelled(&a.form, b, k.uses, k.backing(b.name)) || k.proves(a, b.name))
	},
	func(_ *naming, a *stranger, b *form) bool { return areSynonyms(&a.form, b) },
}

const (
	byFold = iota
	byPlain
	bySlip
	bySynonym
)

// rename gives unknown members the name of an absent property where only one can be meant.
func (k *naming) rename() {
	pairs := len(k.strange) * len(k.names)
	if !k.m.may(Rename) || pairs > maxCompared || !k.m.spend(8*pairs) {
		return
	}
	for way, alike := range resemblances {
		target := make([]string, len(k.strange))
		for n, c := range k.strange {
			if c.to == "" && !c.stuck && !c.taken {
				target[n] = k.target(c, alike)
			}
		}
		for n, c := range k.strange {
			same := func(other string) bool { return other == target[n] }
			switch {
			case target[n] == "" || c.stuck:
			case k.o.has(target[n]):
				c.taken = true
			case k.surrounds(c, target[n]):
			case slices.ContainsFunc(target[:n], same) || slices.ContainsFunc(target[n+1:], same): // one of several
				c.stuck = true
			default:
				c.stuck = !k.free(target[n]) || !k.renamed(c, target[n], way)
				c.meant = target[n]
			}
		}
	}
	for _, c := range k.strange {
		if c.stuck && c.meant != "" && k.o.has(c.meant) { // by now
			c.stuck = false
			c.taken = true
		}
	}
}

// backing returns needed if the name is the only one that is missing, and there is one stranger for it.
func (k *naming) backing(name string) backing {
	if k.o != nil && len(k.strange) == 1 && slices.Contains(k.required, name) && !k.o.has(name) &&
		!slices.ContainsFunc(k.required, func(other string) bool { return other != name && !k.o.has(other) }) {
		return needed
	}
	return alone
}

// proves reports whether the value can only be the property's: a listed one that no other takes, or an object with
// names that no other has.
func (k *naming) proves(c *stranger, name string) bool {
	if c.member == nil || !k.free(name) {
		return false
	}
	t := k.sp.t
	switch t.tokens[c.token].kind {
	case isObject:
		for i := t.first(c.token); i >= 0; i = t.after(i) {
			f := formOf(cut(t.name(i), maxText))
			if slices.Equal(k.homes(&f), []string{name}) {
				return true
			}
		}
	case isString:
		place, _, _ := under(&k.m.budget, k.sp.flat, name)
		listed := slices.ContainsFunc(place, func(s *shape) bool { return s.listed })
		return listed && k.m.fits(place, t, c.token, true) && k.isOnlyOne(c.token, name)
	}
	return false
}

// target returns the declared name that a stranger resembles, or "". It is stuck if there are two.
func (k *naming) target(c *stranger, alike resemblance) (name string) {
	for n := range k.names {
		if alike(k, c, &k.names[n]) {
			c.stuck = name != ""
			name = k.names[n].name
		}
	}
	return name
}

// surrounds reports whether the object's only member has another one by the name inside: it is the arguments
// in one more object.
func (k *naming) surrounds(c *stranger, name string) bool {
	if k.sp.t.tokens[k.sp.i].size != 1 {
		return false
	}
	inner, root := k.m.inside(k.sp.t, c.token)
	return inner != nil && inner.get(root, name) >= 0
}

// renamed renames the member if its value fits there, and if the name is proof enough.
func (k *naming) renamed(c *stranger, name string, way int) bool {
	m := k.m
	place, _, _ := under(&m.budget, k.sp.flat, name)
	at := k.field(c.name)
	before := len(m.repairs)
	m.record(at, Rename, []byte(c.name), []byte(name))
	raw, ok := m.repair(place, k.sp.t, c.token, at)
	ok = ok && m.inFull(place, k.sp, c.member, raw)
	if way > byFold {
		ok = ok && !m.wrapped(before, at) && len(k.homes(&c.form)) == 0
	}
	switch {
	case way == byPlain && k.sp.t.tokens[c.token].kind == isNumber:
		ok = ok && !counts(&c.form, name)
	case way == bySynonym:
		ok = ok && (slices.Contains(k.required, name) || k.isOnlyOne(c.token, name))
	}
	if !ok {
		m.repairs = m.repairs[:before]
		return false
	}
	c.to = name
	c.raw = raw
	return true
}

// counts reports whether a number by one name says how many, and by the other which one: pages and page.
func counts(from *form, name string) bool {
	to := formOf(name)
	quantity := func(w string) bool { return slices.Contains(quantities, spelledOut(singular(w))) }
	if len(from.words) != len(to.words) || slices.ContainsFunc(to.words, quantity) {
		return false
	}
	for n, w := range from.words {
		if w != to.words[n] && singular(w) == singular(to.words[n]) {
			return true
		}
	}
	return false
}

// isOnlyOne reports whether no other absent property takes the value.
func (k *naming) isOnlyOne(value int32, name string) bool {
	return !slices.ContainsFunc(k.names, func(f form) bool {
		if f.name == name || !k.free(f.name) {
			return false
		}
		place, _, _ := under(&k.m.budget, k.sp.flat, f.name)
		return k.m.fits(place, k.sp.t, value, true)
	})
}

// holds reports whether an unknown member could be the missing value, or could have it inside.
func (k *naming) holds(name string) bool {
	want := formOf(name)
	near := func(other string) bool {
		f := formOf(cut(other, maxText))
		return f.plain == want.plain || isNear(f.fold, want.fold) || areSynonyms(&f, &want)
	}
	if slices.ContainsFunc(k.m.loose, near) {
		return true
	}
	for _, c := range k.strange {
		if !c.isOpen() {
			continue
		}
		if near(c.name) {
			return true
		}
		if inner, root := k.m.inside(k.sp.t, c.token); inner != nil {
			for i := inner.first(root); i >= 0; i = inner.after(i) {
				if near(inner.name(i)) {
					return true
				}
			}
		}
	}
	return false
}
