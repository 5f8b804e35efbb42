package fit

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/toolfit/toolfit/internal/base/loosejson"
)

// repair makes value i fit every shape of the place; nil if nothing changes. A value returned
// with false only serves to explain the remaining problems.
func (m *repairer) repair(place []*shape, t *tape, i int32, at string) ([]byte, bool) {
	fine := m.fits(place, t, i, false)
	if fine && !(m.odd && m.tool.renames) {
		return nil, true
	}
	if !m.spend(1) {
		return nil, false
	}
	before := len(m.repairs)
	flat, unions := m.spread(place, t, i)
	raw, ok := m.choose(&spot{place, flat, t, i, at, fine}, unions)
	if fine && (!ok || len(m.repairs) == before) {
		m.repairs = m.repairs[:before]
		return nil, true
	}
	return raw, ok
}

// spot is a value to repair, with its place and the shapes it must have.
type spot struct {
	place []*shape
	flat  []*shape
	t     *tape
	i     int32
	at    string
	fine  bool // the value fits as it is: only its names are in doubt
}

// spread lists all shapes that apply to value i, and the unions among them separately.
func (m *repairer) spread(place []*shape, t *tape, i int32) (flat []*shape, unions [][]*shape) {
	seen := map[*shape]bool{}
	var add func(s *shape)
	add = func(s *shape) {
		if s == nil || seen[s] {
			return
		}
		seen[s] = true
		flat = append(flat, s)
		add(s.ref)
		for _, part := range s.all {
			add(part)
		}
		for _, union := range [][]*shape{s.any, s.one} {
			if len(union) > 0 {
				unions = append(unions, union)
			}
		}
		if s.when != nil {
			if m.fits([]*shape{s.when}, t, i, true) {
				add(s.then)
			} else {
				add(s.or)
			}
		}
	}
	for _, s := range place {
		add(s)
	}
	return flat, unions
}

// outcome is the result of repairing a value by one branch of a union.
type outcome struct {
	raw     []byte
	repairs []Repair
}

// choose resolves the unions one by one and repairs the value. Where no branch fits, the one with the
// fewest repairs is taken, if it is the only one.
func (m *repairer) choose(sp *spot, unions [][]*shape) ([]byte, bool) {
	if len(unions) == 0 {
		return m.change(sp)
	}
	var fitting []*shape
	for _, branch := range unions[0] {
		if (sp.fine || fitting == nil) && m.fits([]*shape{branch}, sp.t, sp.i, false) {
			fitting = append(fitting, branch)
		}
	}
	if fitting != nil {
		return m.within(sp, fitting, unions[1:]) // the problem is elsewhere
	}
	before := len(m.repairs)
	var best []outcome
	for _, branch := range unions[0] {
		raw, ok := m.within(sp, []*shape{branch}, unions[1:])
		if ok {
			best = fewest(best, outcome{raw, slices.Clone(m.repairs[before:])})
		}
		m.repairs = m.repairs[:before]
	}
	if len(best) != 1 {
		return nil, false
	}
	m.repairs = append(m.repairs, best[0].repairs...)
	return best[0].raw, true
}

func (m *repairer) within(sp *spot, branches []*shape, unions [][]*shape) ([]byte, bool) {
	flat, more := m.spread(branches, sp.t, sp.i)
	inner := *sp
	inner.flat = append(slices.Clone(sp.flat), flat...)
	return m.choose(&inner, append(slices.Clone(unions), more...))
}

// fewest keeps the outcomes with the fewest repairs, each value once.
func fewest(best []outcome, o outcome) []outcome {
	if len(best) > 0 && len(o.repairs) > len(best[0].repairs) {
		return best
	}
	if len(best) > 0 && len(o.repairs) < len(best[0].repairs) {
		best = nil
	}
	if slices.ContainsFunc(best, func(b outcome) bool { return samePlain(b.raw, o.raw) }) {
		return best
	}
	return append(best, o)
}

func samePlain(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	x := &tape{}
	y := &tape{}
	return x.read(a) == nil && y.read(b) == nil && bytes.Equal(appendPlain(nil, x, 0), appendPlain(nil, y, 0))
}

// change repairs a value whose unions are resolved.
func (m *repairer) change(sp *spot) ([]byte, bool) {
	accepts := tAny
	for _, s := range sp.flat {
		accepts = accepts.and(s.accepts)
	}
	c := checker{t: sp.t}
	k := sp.t.tokens[sp.i].kind
	if !c.typeFits(accepts, sp.i) {
		if k == isString {
			if raw, ok, isJSON := m.fromText(sp, accepts); ok || isJSON {
				return raw, ok
			}
		}
		if accepts&tArray != 0 && k != isNull && k != isArray {
			return m.wrap(sp)
		}
		return nil, false
	}
	switch k {
	case isString:
		return m.listed(sp, accepts)
	case isObject:
		return m.object(sp)
	case isArray:
		return m.array(sp)
	}
	return nil, false
}

// fromText parses a string as the value that belongs there. isJSON: it contains an object or
// array of the right type, which may still be invalid.
func (m *repairer) fromText(sp *spot, accepts types) (raw []byte, ok, isJSON bool) {
	text := sp.t.text(sp.i)
	if m.nested >= maxNesting || !m.spend(len(text)/4) {
		return nil, false, false
	}
	inner := readText(text)
	if word := strings.ToLower(strings.TrimSpace(text)); inner == nil && (word == "true" || word == "false") {
		inner = []byte(word)
	}
	t := &tape{}
	if inner == nil || t.read(inner) != nil {
		return nil, false, false
	}
	kind := JSONText
	switch t.tokens[0].kind {
	case isNumber:
		kind = NumberText
	case isBoolean:
		kind = BoolText
	}
	if !m.may(kind) {
		return nil, false, false
	}
	c := checker{t: t}
	isJSON = t.tokens[0].kind >= isArray && c.typeFits(accepts, 0)
	m.nested++
	raw, ok = m.try(sp, kind, t)
	m.nested--
	if !ok && !isJSON {
		raw = nil
	}
	return raw, ok, isJSON
}

// try repairs the value on t in place of the spot's. The repair is recorded only if the result
// is valid.
func (m *repairer) try(sp *spot, kind Kind, t *tape) ([]byte, bool) {
	before := len(m.repairs)
	m.record(sp.at, kind, sp.t.raw(sp.i), t.data)
	raw, ok := m.fixed(sp.place, t, 0, sp.at)
	if !ok {
		m.repairs = m.repairs[:before]
	}
	return raw, ok
}

// wrap wraps a single value in an array. A text that may be a list itself is none.
func (m *repairer) wrap(sp *spot) ([]byte, bool) {
	t := &tape{}
	if text := sp.t.text(sp.i); strings.HasPrefix(text, "[") {
		m.spend(len(text) / 4)
		if _, doubt, err := loosejson.Read(text); err == nil && doubt != loosejson.Sure {
			return nil, false
		}
	}
	if !m.may(Wrap) || t.read(slices.Concat([]byte("["), sp.t.raw(sp.i), []byte("]"))) != nil {
		return nil, false
	}
	if raw, ok := m.try(sp, Wrap, t); ok {
		return raw, true
	}
	return nil, false
}

// listed finds the one allowed value that differs only in case, or that the text spells out.
func (m *repairer) listed(sp *spot, accepts types) ([]byte, bool) {
	text := strings.TrimSpace(sp.t.text(sp.i))
	at := slices.IndexFunc(sp.flat, func(s *shape) bool { return s.listed })
	if at < 0 {
		return nil, false
	}
	var found []byte
	for _, l := range sp.flat[at].enum {
		if l.kind != isString || !strings.EqualFold(l.text, text) || !m.may(EnumCase) {
			continue
		}
		if _, ok := m.fitsRaw(sp.place, l.raw, true); !ok {
			continue
		}
		if found != nil {
			return nil, false
		}
		found = l.raw
	}
	if found == nil {
		raw, ok, _ := m.fromText(sp, accepts)
		return raw, ok
	}
	m.record(sp.at, EnumCase, sp.t.raw(sp.i), found)
	return found, true
}

// array repairs the elements.
func (m *repairer) array(sp *spot) ([]byte, bool) {
	var cuts []edit
	n := 0
	for e := sp.t.first(sp.i); e >= 0; e = sp.t.after(e) {
		if raw, _ := m.repair(itemsOf(sp.flat, n), sp.t, e, sp.at+"/"+strconv.Itoa(n)); raw != nil {
			cuts = append(cuts, edit{sp.t.tokens[e].start, sp.t.tokens[e].end, raw})
		}
		n++
	}
	return m.finish(sp, cuts)
}
