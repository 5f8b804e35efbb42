package suggest

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/core/project/mask"
)

const (
	maxPaths   = 2000
	cheapShare = .02 // of the bytes: cheaper fields are kept, unless there is a reason not to
	longText   = 200 // bytes in one object, on average
	textShare  = .25 // of the bytes
	leastTwins = 10  // values of two ids that are compared
)

// study is what the recorded calls say about the fields of a tool's results.
type study struct {
	paths map[string]*evidence
	total int   // bytes
	uses  []use // values that were given later
	asked bool  // the calls had different arguments

	addresses map[string]int // by object, how many of its fields are URLs
}

// use is a value of one result that was given later, and where it is.
type use struct{ places []*evidence }

// newStudy collects the evidence from the samples.
func newStudy(samples []sample, opts *Options) *study {
	st := &study{paths: map[string]*evidence{}, addresses: map[string]int{}}
	for i := range samples {
		st.add(&samples[i], opts)
		st.asked = st.asked || !bytes.Equal(samples[i].args, samples[0].args)
	}
	return st
}

func (st *study) add(s *sample, opts *Options) {
	found := map[string]int{} // the value's place in uses
	here := map[*evidence]bool{}
	members(s.body, nil, func(path [][]byte, leaf []byte, more bool) {
		e := st.find(path, opts)
		if e == nil {
			return
		}
		size := len(leaf) + 1 + len(path[len(path)-1])
		st.total += size
		e.bytes += size
		e.see(leaf, more)
		here[e] = true
		s.uses(leaf, func(v string) {
			at, known := found[v]
			if !known {
				at = len(st.uses)
				found[v] = at
				st.uses = append(st.uses, use{})
			}
			if !slices.Contains(st.uses[at].places, e) {
				st.uses[at].places = append(st.uses[at].places, e)
			}
		})
	})
	for e := range here {
		e.endResult()
		if last, ok := s.given.last[e.name]; ok && last > s.call {
			e.asked++
		}
	}
	for _, m := range s.fetched {
		out, err := m.Apply(nil, s.body, &mask.Tally{})
		if err != nil {
			continue
		}
		leaves(out, nil, func(path [][]byte, _ []byte) {
			if e := st.paths[string(bytes.Join(path, []byte{'/'}))]; e != nil {
				e.fetched = true
			}
		})
	}
}

func (st *study) find(path [][]byte, opts *Options) *evidence {
	id := string(bytes.Join(path, []byte{'/'}))
	e := st.paths[id]
	if e == nil && len(st.paths) < maxPaths && len(path) > 0 {
		e = newEvidence(path, opts)
		st.paths[id] = e
	}
	return e
}

// decide decides which paths are kept, and why.
func (st *study) decide() {
	all := slices.SortedFunc(maps.Values(st.paths), (*evidence).compare)
	for _, e := range all {
		if e.isURL() {
			st.addresses[e.parent]++
		}
	}
	for _, e := range all {
		e.kept, e.why = e.decide(st)
	}
	for _, e := range all {
		if e.kept && !e.fetched && !e.input && e.isOpaque() && slices.ContainsFunc(all, e.isRepeatedBy) {
			e.kept = false
			e.why = "hashes or opaque ids that nobody used"
		}
	}
	st.keepUsed()
}

// isRepeatedBy reports whether the other path tells results apart as an opaque one does. For what is an id by its name it
// must be in the same object and have exactly as many values, since it might be the id of something else; for another
// value of rows it is enough that it tells the rows apart.
func (e *evidence) isRepeatedBy(o *evidence) bool {
	if !o.kept || o.isOpaque() || !o.isID() {
		return false
	}
	if e.expected {
		return o.expected && o.parent == e.parent && o.count == e.count && len(o.values) == len(e.values) && len(e.values) >= leastTwins
	}
	within := o.parent == e.parent || o.parent == "" || strings.HasPrefix(e.parent, o.parent+"/")
	return e.most > 1 && o.repeats == 0 && within
}

// keepUsed keeps as few more paths as are needed for every value that was given later: the same value is often
// in several places.
func (st *study) keepUsed() {
	open := slices.DeleteFunc(slices.Clone(st.uses), use.isKept)
	for len(open) > 0 {
		count := map[*evidence]int{}
		for _, u := range open {
			for _, e := range u.places {
				count[e]++
			}
		}
		var best *evidence
		for e, n := range count {
			if best == nil || n > count[best] || n == count[best] && e.compare(best) < 0 {
				best = e
			}
		}
		best.kept = true
		best.why = "used in later arguments"
		open = slices.DeleteFunc(open, use.isKept)
	}
}

func (u use) isKept() bool {
	return slices.ContainsFunc(u.places, func(e *evidence) bool { return e.kept })
}

// learned is a mask and what it is based on.
type learned struct {
	keep   string
	mask   *mask.Mask
	fields []Field
	text   string // the longest text that is dropped; "": none
}

// learn derives a mask from the samples. If there is none, why says so.
func learn(samples []sample, opts *Options) (l learned, why string) {
	st := newStudy(samples, opts)
	if len(st.paths) >= maxPaths {
		return l, "its results have too many different fields"
	}
	st.decide()
	root := &branch{}
	dropped := false
	longest := 0
	for _, id := range slices.Sorted(maps.Keys(st.paths)) {
		e := st.paths[id]
		dropped = dropped || !e.kept
		root.add(e.path, e.kept)
		l.fields = append(l.fields, Field{Path: mask.Path(e.path), Kept: e.kept, Share: e.share(st), Why: e.why})
		if !e.kept && e.varies && e.isText(st) && e.bytes > longest {
			longest = e.bytes
			l.text = mask.Path(e.path)
		}
	}
	l.keep = string(root.write(nil))
	switch {
	case !dropped:
		return l, "no field can go: each was used, is likely to be asked for, or costs little"
	case l.keep == "":
		return l, "a rule would leave nothing of its results"
	}
	var err error
	l.mask, err = mask.Parse(l.keep)
	if err != nil {
		return l, "a rule would be too long to read"
	}
	return l, ""
}

// branch is a piece of the mask while it is put together.
type branch struct {
	name    []byte
	next    []*branch
	kept    bool // it is a leaf that is kept
	dropped bool // it is, or has below it, one that is not
}

func (b *branch) add(path [][]byte, kept bool) {
	b.dropped = b.dropped || !kept
	if len(path) == 0 {
		b.kept = b.kept || kept
		return
	}
	i := slices.IndexFunc(b.next, func(n *branch) bool { return bytes.Equal(n.name, path[0]) })
	if i < 0 {
		i = len(b.next)
		b.next = append(b.next, &branch{name: path[0]})
	}
	b.next[i].add(path[1:], kept)
}

// some reports whether anything of the branch is kept.
func (b *branch) some() bool { return b.kept || slices.ContainsFunc(b.next, (*branch).some) }

// write appends the kept branches as a mask. A branch that is kept completely is just its name.
func (b *branch) write(dst []byte) []byte {
	first := true
	for _, n := range b.next {
		if !n.some() {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = mask.AppendKey(dst, n.name)
		if n.dropped && len(n.next) > 0 {
			inner := n.write(nil)
			if len(inner) > 0 {
				dst = append(append(append(dst, '('), inner...), ')')
			}
		}
	}
	return dst
}
