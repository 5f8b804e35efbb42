package mask

import (
	"fmt"
	"slices"
	"strings"
)

// view is what one mask does to the values at one place of a schema.
type view struct {
	level *level // nil: all members stay
	rows  slice
	limit int
	away  []*exclusion
}

// whole is the view of a mask that does nothing.
var whole = view{limit: noCap}

func (m *Mask) view() view {
	v := view{level: m.root.sub, rows: m.root.rows, limit: m.root.limit}
	if v.level != nil {
		v.away = v.level.exclude
	}
	return v
}

// cutsMembers reports whether members may be missing somewhere below.
func (v view) cutsMembers() bool { return v.level != nil || len(v.away) > 0 }

// member is the view of the named member; false when it is left out.
func (v view) member(name string) (view, bool) {
	out := view{limit: v.limit}
	if v.rows.set {
		return out, true // of an object where an array is meant nothing is left out
	}
	if v.level != nil && v.level.allow {
		s := v.level.find([]byte(name))
		if s == nil {
			return out, false
		}
		out.take(s)
	}
	var keep bool
	out.away, keep = follow(out.away, v.away, []byte(name))
	return out, keep
}

func (v *view) take(s *step) {
	v.level = s.sub
	v.rows = s.rows
	if s.limit != noCap {
		v.limit = s.limit
	}
	if s.sub != nil {
		v.away = append(v.away, s.sub.exclude...)
	}
}

// members are the views that members of unknown names may have.
func (v view) members() (views []view) {
	if v.rows.set {
		return []view{{limit: v.limit}} // as in member
	}
	var away []*exclusion
	for _, e := range v.away {
		if e.deep {
			away = append(away, e)
		}
		for _, x := range e.next {
			if !x.to.ends {
				away = append(away, x.to)
			}
		}
	}
	if v.level == nil || !v.level.allow {
		return []view{{limit: v.limit, away: away}}
	}
	add := func(s *step) {
		next := view{limit: v.limit, away: slices.Clone(away)}
		next.take(s)
		views = append(views, next)
	}
	for _, s := range v.level.globs {
		add(s)
	}
	for _, s := range v.level.exact {
		add(s)
	}
	return views
}

// key identifies the view in a map.
func (v view) key() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%p %v %d", v.level, v.rows, v.limit)
	for _, e := range v.away {
		fmt.Fprintf(&b, " %p", e)
	}
	return b.String()
}

// views are what several masks do at one place: any of them may be the one that is applied.
type views []view

// distinct drops views that do the same.
func (vs views) distinct() views {
	slices.SortFunc(vs, func(a, b view) int { return strings.Compare(a.key(), b.key()) })
	return slices.CompactFunc(vs, func(a, b view) bool { return a.key() == b.key() })
}

// each is the distinct views that next makes of each view.
func (vs views) each(next func(view) []view) (out views) {
	for _, v := range vs {
		out = append(out, next(v)...)
	}
	return out.distinct()
}

func (vs views) some(is func(view) bool) bool { return slices.ContainsFunc(vs, is) }

func (vs views) key() string {
	keys := make([]string, len(vs))
	for i, v := range vs {
		keys[i] = v.key()
	}
	return strings.Join(keys, "|")
}

// member are the views of a member, and whether some of the masks leave it out.
func (vs views) member(name string) (kept views, missing bool) {
	for _, v := range vs {
		if next, ok := v.member(name); ok {
			kept = append(kept, next)
		} else {
			missing = true
		}
	}
	return kept.distinct(), missing
}
